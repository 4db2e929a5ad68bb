"""Pictures that commands draw with matplotlib: numbers in, an image file out."""
