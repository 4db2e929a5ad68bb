"""Draw the image files that commands write: charts with matplotlib, and boards."""
