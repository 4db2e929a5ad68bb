"""Tree search guided by a network, and the UCT baseline without a network.

Modules in reading order:

- `tree`: the search statistics as arrays, `expand`, `backward`, proven results
- `puct`: the PUCT formula, root noise, the policy of a finished search
- `simulate`: the walk from the root to a leaf
- `backend`: what self-play needs of a search, and the three that provide it
- `expansion`: positions of new nodes, and their values from rules, proofs or the evaluator
- `batched_search`: B searches that share one evaluator; `subtree` keeps the tree below the move
  played
- `in_flight`: several leaves of one tree in the same evaluator batch
- `leaf`: a simulation up to its leaf in one compiled function, for searches that run in kernels
- `roots`: root noise and final policies; `forced_playouts` and `gumbel`: alternatives to plain PUCT
  at the root
- `settings`: the settings of a search
- `uct`: the baseline, UCT with rollouts instead of a network
"""
