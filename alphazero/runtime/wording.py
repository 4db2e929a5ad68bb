"""Format numbers for use in sentences."""


def counted(number: int, noun: str) -> str:
    """Format a number with its noun, such as "1 move" or "1,200 moves"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
