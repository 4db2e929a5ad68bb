"""Pictures that commands draw: charts with matplotlib, boards as shapes. Numbers in, a file out."""
