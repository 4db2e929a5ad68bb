"""Describe a trained network in text: its settings, training time and measured strength."""

from typing import Any


def flat_settings(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested settings to one dict with dotted keys such as "learner.batch_size".

    Args:
        settings: setting values by name; a section of settings is a nested dict.
        prefix: text put in front of every key; the recursive calls pass the section's name.
    """
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            flat |= flat_settings(value, f"{key}.")
        else:
            flat[key] = value
    return flat


def summary(info: dict[str, Any]) -> str:
    """Summarize a network's training time and strength in one line; "" if both are unknown.

    Args:
        info: the facts stored in the network's file. These keys are used if present: "elapsed_s"
            for the time, and the first of "proof", "exact" and "strength" for the strength.
    """
    parts = []
    if info.get("elapsed_s"):
        parts.append(f"{duration_text(info['elapsed_s'])} of training")
    if "proof" in info:
        proof = info["proof"]
        accuracy = f"{proof['num_accurate']:,} of {proof['num_positions']:,}"
        parts.append(f"accurate in {accuracy} positions")
    elif "exact" in info:
        parts.append(f"accuracy {info['exact']['accuracy']:.1%}")
    elif "strength" in info:
        strength = info["strength"]
        parts.append(f"{strength['score']:.1%} against {strength['opponent']}")
    return ", ".join(parts)


def duration_text(seconds: float) -> str:
    """Format a duration in hours, minutes and seconds, such as "9 min 52 s" or "2 h 5 min"."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
