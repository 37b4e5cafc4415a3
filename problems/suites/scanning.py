"""The available formats, found by scanning `problems/suites/formats`, and recognition of a path's format."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

from engine.errors import EngineError, UsageError
from problems.suites.task import SuiteFormat

_PACKAGE = "problems.suites.formats"
_MOST_FOLDERS = 100


@cache
def formats() -> tuple[SuiteFormat, ...]:
    """Every format, in the order of the module names.

    Raises:
        EngineError: a module of the package defines no FORMAT.
    """
    found = []
    for entry in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__):
        defined = getattr(importlib.import_module(f"{_PACKAGE}.{entry.name}"), "FORMAT", None)
        if not isinstance(defined, SuiteFormat):
            raise EngineError(f"problems/suites/formats/{entry.name}.py: FORMAT should be a SuiteFormat")
        found.append(defined)
    return tuple(found)


def format_named(name: str) -> SuiteFormat:
    """The format with this id.

    Raises:
        UsageError: no format has this id.
    """
    for known in formats():
        if known.id == name:
            return known
    raise UsageError(f"there is no suite format {name!r}; known are {', '.join(one.id for one in formats())}")


def format_of(path: Path) -> SuiteFormat:
    """The first format that recognises the path.

    Raises:
        UsageError: the path does not exist, no format recognises it, or pyarrow is missing to read it.
    """
    if not path.exists():
        raise UsageError(f"there is no {path}; name a checkout, a file or an export of a suite")
    for known in formats():
        if _matches(known, path):
            return known
    if importlib.util.find_spec("pyarrow") is None and _has_parquet(path):
        raise UsageError(f"{path}: reading parquet needs pyarrow; pip install 'kgtui[suites]'")
    titles = ", ".join(one.title for one in formats())
    below = _suite_below(path) if path.is_dir() else None
    hint = f"did you mean {below}?" if below else _hint(path)
    raise UsageError(f"{path} is not a suite in a known format ({titles}); {hint}")


def _hint(path: Path) -> str:
    """A hint for a path that is not a suite."""
    if (path / ".git").exists():
        return "it is a git checkout: is it complete and on the right branch? See `kgtui manual suites`"
    return "see `kgtui manual suites`"


def _suite_below(path: Path) -> Path | None:
    """The first folder that a format recognises, at most two levels below, among the first folders of each level."""
    with suppress(OSError):  # a folder that was removed while it is listed
        for pattern in ("*", "*/*"):
            folders = (folder for folder in path.glob(pattern) if folder.is_dir() and not folder.name.startswith("."))
            for folder in islice(folders, _MOST_FOLDERS):
                if any(_matches(known, folder) for known in formats()):
                    return folder
    return None


def _matches(known: SuiteFormat, path: Path) -> bool:
    """Whether a format recognises the path; False if a folder below was removed or is unreadable."""
    try:
        return known.matches(path)
    except OSError:
        return False


def _has_parquet(path: Path) -> bool:
    """Whether this is a parquet file, or a dataset folder that contains some."""
    with suppress(OSError):
        return path.suffix == ".parquet" or any(True for name in ("*", "data/*") for _ in path.glob(f"{name}.parquet"))
    return False
