"""Pictures that commands draw: charts with matplotlib, and boards."""
