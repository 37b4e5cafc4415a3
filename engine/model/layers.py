"""Layers of an inspection: the coverage and the facts of each.

Only records.  The policy determines the effect of an unchecked layer on the verdict.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

LEFT_OUT = "cases left out"
"""The author of the report on cases that were not timed because the run was to end soon."""


class Layer(enum.StrEnum):
    """Source of evidence about a candidate; no layer is trusted alone."""

    PROOF = "proof"
    STATIC = "static"
    BEHAVIOUR = "behaviour"
    ABLATION = "ablation"
    INPUTS = "inputs"
    DEVICE_RECORD = "device record"
    TIMING = "timing"


class Coverage(enum.StrEnum):
    """How far a layer was checked.

    NOT_AVAILABLE is due to the machine and known before a candidate is loaded; ENGINE_FAILED means that a process of
    the engine failed; NOT_CHECKED is everything else, which may be the candidate's doing.
    """

    CHECKED = "checked"
    NOT_CHECKED = "could not check"
    ENGINE_FAILED = "engine failed"
    NOT_AVAILABLE = "not available"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One observation and its evidence: "own kernels", "98.2 % of device time"."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class LayerReport:
    """Report of one check or probe on its layer; `why` is the reason if the layer was not checked."""

    layer: Layer
    by: str
    coverage: Coverage
    why: str = ""
    facts: tuple[Fact, ...] = ()

    def __post_init__(self) -> None:
        if (self.coverage is Coverage.CHECKED) == bool(self.why):
            raise ValueError(f"{self.by}: a layer that is {self.coverage} cannot have the reason {self.why!r}")


def left_out_report(count: int, *, planned: int) -> LayerReport:
    """The report on `count` of the `planned` cases that were not timed for lack of time."""
    why = f"{count} of {planned} cases were not timed, so that the run ends soon; `kgtui bench` times all of them"
    fact = Fact(name=LEFT_OUT, value=str(count))
    return LayerReport(layer=Layer.TIMING, by=LEFT_OUT, coverage=Coverage.NOT_ASKED, why=why, facts=(fact,))


def left_out_count(reports: Iterable[LayerReport]) -> int:
    """Number of cases that were not timed for lack of time, by the reports of a run."""
    return sum(int(fact.value) for report in reports if report.by == LEFT_OUT for fact in report.facts)
