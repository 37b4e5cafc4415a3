"""Probes: one file each, found by scanning this folder.

A probe calls a candidate that was right in all cases again, under conditions that an honest kernel tolerates, and
yields findings from the judge's counts of its outputs.  The worker's reports are claims, never a proof in favour of the
candidate.  A probe module defines `CATCHES` (files of the corpus that it must flag), `LAYER` (the layer of the
inspector that it belongs to) and `probe(lab)`, an async generator of findings that ends with one LayerReport.  A probe
that fails becomes a layer that could not be checked: an engine failure, unless the candidate's worker failed.
One that has to wait may set `APART = True`: in the interpreter it then runs beside the others, with a worker of its
own.  One that withholds launches has a late `TURN`, the default is
0: a graph that is captured without its kernels, or a buffer that they did not fill, stays in the worker, and a later
probe would report it.  A slow probe sets `ON_DEMAND = True`: it runs only if the plan requests the sanitizer, and
reports nothing otherwise; its `CATCHES` may be empty.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol, TypeAlias

from engine.errors import EngineError, is_no_evidence
from engine.model import Finding
from engine.model.layers import Coverage, Layer, LayerReport
from engine.processes.candidate_session import LoadError

if TYPE_CHECKING:
    from engine.probes.lab.case_session import Lab

Observation: TypeAlias = Finding | LayerReport

_REQUIRED = ("CATCHES", "LAYER", "probe")


class Probe(Protocol):
    """Interface of every probe module."""

    __name__: str
    CATCHES: tuple[str, ...]
    LAYER: Layer

    def probe(self, lab: Lab) -> AsyncIterator[Observation]:
        """Findings on the candidate in this lab, and how far its layer was checked."""
        ...


def probes() -> tuple[Probe, ...]:
    """Every probe, by their turns, and in the order of their names.

    Raises:
        EngineError: a module here does not define what a probe must define.
    """
    found: list[Probe] = []
    for entry in pkgutil.iter_modules(__path__):
        if entry.ispkg:
            continue
        module = importlib.import_module(f"{__name__}.{entry.name}")
        missing = [name for name in _REQUIRED if not hasattr(module, name)]
        if missing:
            raise EngineError(f"engine/probes/{entry.name}.py does not define {', '.join(missing)}")
        if not inspect.isasyncgenfunction(module.probe):
            raise EngineError(f"engine/probes/{entry.name}.py: probe must be an async function that yields findings")
        found.append(module)
    return tuple(sorted(found, key=lambda probe: int(getattr(probe, "TURN", 0))))


def name_of(probe: Probe) -> str:
    """The name of its file."""
    return probe.__name__.rpartition(".")[2]


def is_apart(probe: Probe) -> bool:
    """Whether it runs beside the others, if that is possible."""
    return bool(getattr(probe, "APART", False))


def is_on_demand(probe: Probe) -> bool:
    """Whether it runs only if the plan requests it."""
    return bool(getattr(probe, "ON_DEMAND", False))


async def observations_of(probe: Probe, lab: Lab) -> AsyncIterator[Observation]:
    """Observations of one probe, with exactly one report on its layer, also when it fails."""
    reports = 0
    coverage = Coverage.ENGINE_FAILED
    why = "the probe ended without a report"
    try:
        async for observation in probe.probe(lab):
            if isinstance(observation, LayerReport):
                reports += 1
            yield observation
    except Exception as error:  # plug-in boundary: fail closed, with a report
        why = f"{type(error).__name__}: {error}"
        reports = 0
        if _is_of_the_worker(error):
            coverage = Coverage.NOT_CHECKED
    if reports != 1:
        yield LayerReport(layer=probe.LAYER, by=name_of(probe), coverage=coverage, why=why)


def _is_of_the_worker(error: Exception) -> bool:
    """Whether an error may be the candidate's doing: it did not load, or its worker exited or did not reply."""
    return isinstance(error, LoadError) or (isinstance(error, EngineError) and not is_no_evidence(error))
