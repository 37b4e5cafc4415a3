"""Importing a candidate; the only place that executes foreign code."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.errors import CandidateError
from engine.loading import databases
from engine.loading.installed import PACKAGE_FOLDERS

HIDDEN = frozenset({"engine", "problems", "sessions", "kgtui"})
"""Our packages, which no candidate can import."""


class NoEntryError(CandidateError):
    """The module was imported, and does not have the function."""


def load(
    path: Path, folder: Path | None, entry: str, modules: Path | None = None
) -> tuple[Callable[..., Any], tuple[str, ...]]:  # Any: of an untrusted file
    """Import the file at `path`; returns its entry, and the files of `folder` that it imported.

    The files of `modules` are imported before those of `folder`.

    Raises:
        NoEntryError: there is no callable of that name.
        BaseException: any exception of the candidate's own top level.
    """
    databases.watch()
    hide_own_packages(folder)
    if modules is not None:
        sys.path.insert(_before_site_packages(), str(modules))
    module = import_file(path, folder, name=f"candidate_{path.stem}")  # not the bare stem: a file may be torch.py
    function = getattr(module, entry, None)
    if not callable(function):
        raise NoEntryError(f"after loading, the file has no function {entry!r}; define it at the top level")
    return function, _siblings(folder)


def import_file(path: Path, folder: Path | None, *, name: str) -> ModuleType:
    """Import an untrusted file as the module `name`; its imports are searched in `folder` too.

    Raises:
        BaseException: any exception of its top level.
    """
    if folder is not None:
        sys.path.insert(_before_site_packages(), str(folder))
    sys.dont_write_bytecode = True
    reader = SourceFileLoader(name, str(path))  # explicit, since Python by default only loads files that end in .py
    module = importlib.util.module_from_spec(ModuleSpec(name, reader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module
    reader.exec_module(module)
    return module


def _before_site_packages() -> int:
    # After the standard library, which a stray `types.py` must not shadow; before everything that was installed.
    return next((i for i, place in enumerate(sys.path) if place.endswith(PACKAGE_FOLDERS)), len(sys.path))


def hide_own_packages(folder: Path | None) -> None:
    """Make our own packages impossible to import; packages of the same names in `folder` are the candidate's."""
    for name in list(sys.modules):
        if name.partition(".")[0] in HIDDEN:
            del sys.modules[name]
    sys.meta_path.insert(0, _CandidateFirst(folder))


class _CandidateFirst(MetaPathFinder):
    """A candidate's own `engine.py` is its own; ours cannot be imported, reference solutions included."""

    def __init__(self, folder: Path | None) -> None:
        self._places = [str(folder)] if folder is not None else []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in HIDDEN:
            return None
        spec = PathFinder.find_spec(fullname, path if "." in fullname else self._places)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return spec


def _siblings(folder: Path | None) -> tuple[str, ...]:
    if folder is None:
        return ()
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    inside = f"{folder}{os.sep}"  # most modules are elsewhere, and a Path of each would take 10 ms
    found = {file for file in files if isinstance(file, str) and file.startswith(inside)}
    return tuple(sorted(file for file in found if Path(file).parent == folder))
