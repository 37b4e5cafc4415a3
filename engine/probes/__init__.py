"""Probes: one file each, found by scanning this folder.

A probe puts questions to a candidate that was right in all cases: it has it called again under conditions
that an honest kernel cannot mind, and yields findings from what the judge says of the outputs.  What the
worker says is a claim, never a proof of innocence.  A probe module defines `CATCHES` (files of the corpus
that it must flag) and `probe(lab)`, an async generator of findings.  A probe that fails becomes a visible
finding, never silence.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol

from engine.errors import EngineError
from engine.model import Finding, Severity

if TYPE_CHECKING:
    from engine.probing import Lab

_REQUIRED = ("CATCHES", "probe")


class Probe(Protocol):
    """What every probe module offers."""

    __name__: str
    CATCHES: tuple[str, ...]

    def probe(self, lab: Lab) -> AsyncIterator[Finding]:
        """Findings on the candidate in this lab."""
        ...


def probes() -> tuple[Probe, ...]:
    """Every probe, in the order of their names.

    Raises:
        EngineError: a module here does not define what a probe must define.
    """
    found: list[Probe] = []
    for entry in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{entry.name}")
        missing = [name for name in _REQUIRED if not hasattr(module, name)]
        if missing:
            raise EngineError(f"engine/probes/{entry.name}.py does not define {', '.join(missing)}")
        if not inspect.isasyncgenfunction(module.probe):
            raise EngineError(f"engine/probes/{entry.name}.py: probe must be an async function that yields findings")
        found.append(module)
    return tuple(found)


async def findings_of(probe: Probe, lab: Lab) -> AsyncIterator[Finding]:
    """What one probe finds; that it could not check, when it fails."""
    name = probe.__name__.rpartition(".")[2]
    try:
        async for finding in probe.probe(lab):
            yield finding
    except Exception as error:  # the edge of a plug-in: fail closed, with a finding
        message = f"could not check: {type(error).__name__}: {error}"
        yield Finding(check=name, severity=Severity.NOTE, message=message)
