"""Draw the pictures that commands write: charts with matplotlib, and pictures of boards."""
