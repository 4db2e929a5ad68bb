"""Sinks: they show or store the events of a training run. A stage yields data; only what is in here prints, draws or writes logs."""
