"""Kernels that were compiled elsewhere: searched before Triton compiles them here.

The folders belong to the parent, and a worker can only read them.  One has the kernels that the fork server compiled
for every child; the other is filled while a candidate runs, by compilers that have loaded only this candidate, and is
removed with it.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable
from pathlib import Path

from triton import knobs
from triton.runtime.cache import FileCacheManager


def read_from(*folders: Path) -> None:
    """Have Triton search these folders first from now on, for kernels and for launchers.

    A group of files is found there as a whole or not at all.
    """

    roots = tuple(map(str, folders))

    class Published(FileCacheManager):  # type: ignore[misc]  # Triton is not typed
        """A cache that reads published files before its own folder."""

        def has_file(self, filename: str) -> bool:
            return self._published(filename) is not None or bool(super().has_file(filename))

        def get_file(self, filename: str) -> str | None:
            found: str | None = self._published(filename) or super().get_file(filename)
            return found

        def get_group(self, filename: str) -> dict[str, str] | None:
            name_of_list = f"__grp__{filename}"
            listed = self._published(name_of_list)
            if listed is not None:
                names = _names_in(Path(listed))
                # Mostly all files are in the folder of the list, so that the others need not be asked for each.
                folders = (str(Path(listed).parent), *self._folders)
                group = {name: path for name in names if (path := _found(name, folders)) is not None}
                if names and len(group) == len(names):
                    return group
            if not super().has_file(name_of_list):
                return None  # Triton calls our `has_file` first, and would then read from its own folder
            found: dict[str, str] | None = super().get_group(filename)
            return found

        def _published(self, filename: str) -> str | None:
            return _found(filename, self._folders)

        @functools.cached_property
        def _folders(self) -> tuple[str, ...]:
            return tuple(f"{root}/{self.key}" for root in roots)

    knobs.cache.manager_class = Published


def _found(filename: str, folders: Iterable[str]) -> str | None:
    """The path of this file in the first folder that has it; paths as text, as Triton's are."""
    return next(filter(os.path.exists, (f"{folder}/{filename}" for folder in folders)), None)


def _names_in(listed: Path) -> tuple[str, ...]:
    """The file names of a group; the folders that it lists are those of its compiler and are ignored."""
    try:
        return tuple(json.loads(listed.read_bytes())["child_paths"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()  # written by a compiler that ran untrusted code
