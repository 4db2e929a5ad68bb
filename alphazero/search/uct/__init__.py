"""The UCT baseline: `search` runs simulations; `tree`, `table` and `rollout` hold the kernels."""
