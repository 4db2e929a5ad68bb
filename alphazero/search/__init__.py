"""Tree search guided by a network, and the UCT baseline without one.

Modules in reading order:

- `tree`: the search statistics as arrays, `expand`, `backward`, proven results
- `puct`: the PUCT formula, root noise, the policy of a finished search
- `simulate`: the walk from the root to a leaf
- `batched_search`: B searches that share one evaluator; `subtree` reuses their trees
- `roots`: root noise and final policies; `forced_playouts` and `gumbel`: other root algorithms
- `settings`: the settings of a search
- `uct`: the baseline, UCT with rollouts instead of a network
"""
