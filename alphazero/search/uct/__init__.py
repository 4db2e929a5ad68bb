"""The UCT baseline: `search` runs simulations; `tree`, `table` and `rollout` have the kernels."""
