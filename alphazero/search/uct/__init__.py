"""UCT, the baseline: `search` runs simulations, `tree` and `rollout` hold the kernels."""
