"""The UCT baseline: tree search with random rollouts instead of a network.

`search` runs simulations; `tree`, `table` and `rollout` contain the compiled kernels.
"""
