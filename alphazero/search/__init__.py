"""Tree search guided by a network, and the UCT baseline without a network.

Modules in reading order:

- `tree`: the search statistics as arrays, `expand`, `backward`, proven results
- `puct`: the PUCT formula, root noise, the policy of a finished search
- `simulate`: the walk from the root to a leaf
- `expansion`: positions of new nodes, and their values from rules, proofs or the evaluator
- `batched_search`: B searches that share one evaluator; `subtree` reuses their trees
- `in_flight`: several leaves of one tree for the same batch
- `roots`: root noise and final policies; `forced_playouts` and `gumbel`: other root algorithms
- `settings`: the settings of a search
- `uct`: the baseline, UCT with rollouts instead of a network
"""
