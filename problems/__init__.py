"""The catalogue of problems: every operator that a kernel can be written for.

A problem is one module, named after its operator, in the folder of its source: `aten/softmax.py`
defines `PROBLEM`, the problem called "aten::softmax".  The folders are scanned; there is no list to
keep.  Listing, searching and showing the catalogue must never import torch: the functions of a
problem take it from `problems.kit`, which loads it when they are called.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from engine.errors import EngineError, UsageError
from engine.model import Problem

SOURCES = ("aten", "vllm", "cublas")

_SUGGESTIONS = 3
_LEAST_SIMILARITY = 0.5


def catalogue(*, package: str = __name__) -> Mapping[str, Problem]:
    """Every problem of `package` by its full name, source by source, in the alphabet's order.

    Raises:
        EngineError: a module of the catalogue is broken; the text names its file.
    """
    return MappingProxyType({name: _load(name, package=package) for name in _names(package)})


def find(name: str, *, package: str = __name__) -> Problem:
    """The problem called `name`: in full ("aten::softmax"), or the bare name where only one source has it.

    Only the module of that problem is imported.

    Raises:
        UsageError: no problem is called that, or several are.
        EngineError: its module is broken.
    """
    names = _names(package)
    if name in names:
        return _load(name, package=package)
    bearers = tuple(full for full in names if _bare(full) == name)
    if len(bearers) == 1:
        return _load(bearers[0], package=package)
    if bearers:
        raise UsageError(f"{name!r} is the name of several problems; type one in full: {', '.join(bearers)}")
    suggestions = nearest(name, package=package)
    advice = f"did you mean {', '.join(suggestions)}?" if suggestions else "`kgtui problems list` shows them all"
    raise UsageError(f"there is no problem called {name!r}; {advice}")


def nearest(name: str, *, package: str = __name__) -> tuple[str, ...]:
    """Up to three full names that `name` may have been meant for, the likeliest first."""
    spellings: dict[str, list[str]] = {}
    for full in _names(package):
        for spelling in (full.lower(), _bare(full).lower()):
            spellings.setdefault(spelling, []).append(full)
    close = difflib.get_close_matches(name.lower(), spellings, n=2 * _SUGGESTIONS, cutoff=_LEAST_SIMILARITY)
    found = dict.fromkeys(full for spelling in close for full in spellings[spelling])
    return tuple(found)[:_SUGGESTIONS]


def _names(package: str) -> tuple[str, ...]:
    """The full names that the file names of `package` promise; imports none of them."""
    roots = [Path(folder) for folder in importlib.import_module(package).__path__]
    return tuple(
        f"{source}::{stem}"
        for source in SOURCES
        for stem in sorted(
            file.stem for root in roots for file in (root / source).glob("*.py") if file.stem != "__init__"
        )
    )


def _bare(full: str) -> str:
    """The name without its source."""
    return full.partition("::")[2]


def _load(name: str, *, package: str) -> Problem:
    """Import the module that `name` promises and check that it keeps the promise."""
    source, _, stem = name.partition("::")
    file = f"{package}/{source}/{stem}.py"
    path = f"{package}.{source}.{stem}"
    try:
        module = importlib.import_module(path)
    except Exception as error:  # the edge to plug-ins: whatever a module raises is reported with its file
        raise EngineError(f"{file}: cannot be imported: {type(error).__name__}: {error}") from error
    problem = getattr(module, "PROBLEM", None)
    if not isinstance(problem, Problem):
        raise EngineError(f"{file}: PROBLEM should be an engine.model.Problem, is {problem!r}; define it in this file")
    if problem.name != name:
        raise EngineError(f"{file}: PROBLEM.name should be {name!r} after the file, is {problem.name!r}")
    if problem.origin != f"{path}:PROBLEM":
        raise EngineError(
            f"{file}: PROBLEM.origin should be '{path}:PROBLEM', is {problem.origin!r}; write f\"{{__name__}}:PROBLEM\""
        )
    return problem
