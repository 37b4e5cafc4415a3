"""Tables of BLAS cases: a default value needs no column, and does not appear in the name of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from engine.model import Case, DType, Parameter, Tier
from problems.kit.cases import cases_over
from problems.kit.layouts import Layout

Axis: TypeAlias = Parameter | Sequence[Parameter]


class CaseTable(Protocol):
    """Rows of a table of cases."""

    def __call__(self, tier: Tier, **axes: Axis) -> tuple[Case, ...]:
        """One case for every combination of the lists among `axes`."""
        ...


def case_table(label: str, *, dtype: DType, **plain: Axis) -> CaseTable:
    """Rows of cases of one dtype; `plain` holds the default values.

    A case is named by `label`, and by each further axis whose value is not the default: "alpha 0.5", "offset".
    """
    defaults: Mapping[str, Axis] = {"values": "normal", "layout": Layout.CONTIGUOUS, **plain}

    def rows(tier: Tier, **axes: Axis) -> tuple[Case, ...]:
        chosen = {**defaults, **axes}
        unusual = [key for key in chosen if f"{{{key}}}" not in label and chosen[key] != defaults.get(key)]
        words = (f" {{{key}}}" if isinstance(defaults[key], Layout) or key == "values" else f" {key} {{{key}}}"
                 for key in unusual)  # fmt: skip
        return cases_over(tier, label + "".join(words), dtype=dtype, **chosen)

    return rows
