"""Tree search.

In the order to read:

- `tree`: the statistics in arrays, `expand`, `backward`, proven results
- `puct`: the PUCT formula, root noise, the policy of a finished search
- `simulate`: the walk from the root to a leaf
- `batched_search`: B searches that share one evaluator; `subtree` reuses their trees
- `roots`: their noise and policies; `forced_playouts` and `gumbel` are the other root algorithms
- `settings`: the constants
- `uct`: the baseline without a network
"""
