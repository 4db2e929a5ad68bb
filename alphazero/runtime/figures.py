"""Figures that say how a chart shows them: a tag and a description on the field of a report.

In: reports, which are dataclasses. Out: the curves of a report, with their values. Knows no chart.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Curve(NamedTuple):
    """How a chart shows a figure."""

    tag: str  #: group and name, such as "loss/policy"
    description: str
    value: Callable[[Any], float] = float  #: what is shown of the figure


def curve(
    tag: str, description: str, default: float = math.nan, value: Callable[[Any], float] = float
) -> Any:
    """Return the field of a dataclass whose figure is a curve; without a default, it may lack."""
    metadata = {"curve": Curve(tag, description, value)}
    return dataclasses.field(default=default, metadata=metadata)


def derived_curve(tag: str, description: str) -> Callable[[Callable[[Any], float]], property]:
    """Return the decorator of a property that is a curve; it is computed, not stored."""

    def declare(function: Callable[[Any], float]) -> property:
        function.__dict__["curve"] = Curve(tag, description)
        return property(function)

    return declare


def curves(report: Any) -> Iterator[tuple[Curve, float]]:
    """Yield the curves of a report and of its parts, with their values; None and NaN have none."""
    for figure, shown in _declared(report):
        if dataclasses.is_dataclass(figure):
            yield from curves(figure)
        elif shown is not None and figure is not None and not math.isnan(shown.value(figure)):
            yield shown, shown.value(figure)


def _declared(report: Any) -> Iterator[tuple[Any, Curve | None]]:
    """Yield the fields and properties of a report, each with its curve if it is one."""
    for field in dataclasses.fields(report):
        yield getattr(report, field.name), field.metadata.get("curve")
    for attribute in vars(type(report)).values():
        if isinstance(attribute, property):
            yield attribute.__get__(report), getattr(attribute.fget, "curve", None)
