"""Tree search guided by a network, and the UCT baseline without a network.

Modules in reading order:

- `tree`: the search statistics as arrays, `expand`, `backward`, proven results
- `puct`: the PUCT formula, root noise, the policy of a finished search
- `simulate`: the walk from the root to a leaf
- `expansion`: positions of new nodes, and their values from rules, proofs or the evaluator
- `batched_search`: B searches that share one evaluator; `subtree` keeps the tree below the move
  played
- `table_search`: whole searches in one kernel, with a network of `line_tables`
- `gpu_kernels`: a simulation in one thread of a GPU for each game
- `in_flight`: several leaves of one tree in the same evaluator batch
- `roots`: root noise and final policies; `forced_playouts` and `gumbel`: alternatives to plain PUCT
  at the root
- `settings`: the settings of a search
- `uct`: the baseline, UCT with rollouts instead of a network
"""
