"""Kernels that were compiled elsewhere: searched before Triton compiles them here.

The folders belong to the parent, and a worker can only read them.  One has the kernels that the fork server compiled
for every child; the other is filled while a candidate runs, by compilers that have loaded only this candidate, and is
removed with it.
"""

from __future__ import annotations

import json
from pathlib import Path

from triton import knobs
from triton.runtime.cache import FileCacheManager


def read_from(*folders: Path) -> None:
    """Have Triton search these folders first from now on, for kernels and for launchers.

    A group of files is found there as a whole or not at all.
    """

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
            names = _names_in(Path(listed)) if listed is not None else ()
            group = {name: path for name in names if (path := self._published(name)) is not None}
            if names and len(group) == len(names):
                return group
            if not super().has_file(name_of_list):
                return None  # Triton calls our `has_file` first, and would then read from its own folder
            found: dict[str, str] | None = super().get_group(filename)
            return found

        def _published(self, filename: str) -> str | None:
            places = (folder / str(self.key) / filename for folder in folders)
            return next((str(place) for place in places if place.exists()), None)

    knobs.cache.manager_class = Published


def _names_in(listed: Path) -> tuple[str, ...]:
    """The file names of a group; the folders that it lists are those of its compiler and are ignored."""
    try:
        return tuple(json.loads(listed.read_text())["child_paths"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()  # written by a compiler that ran untrusted code
