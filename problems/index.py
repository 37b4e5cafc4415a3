"""The index of all problems: those of the catalogue, by name.

Names and descriptions come from the text of the files; a problem is loaded on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import EngineError, UsageError
from engine.model import Problem
from engine.problem_source import ProblemDescription, ProblemSource
from problems.audits import Audits, audits_beside
from problems.catalogue import Catalogue
from problems.description_cache import DescriptionCache

if TYPE_CHECKING:
    from problems.suites.source import SuiteSource

_SUGGESTIONS = 3
_LEAST_SIMILARITY = 0.5
_LEAST_PART = 3  # shortest part of a name that suggests the name


class ProblemIndex:
    """The problems of several sources by name. If two checkouts of a suite share a name, the first one is used."""

    def __init__(
        self, sources: Sequence[ProblemSource], *, cache: Path | None = None, audits: Audits | None = None
    ) -> None:
        self.sources = tuple(sources)
        self._audits = audits
        self._cache = cache

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The full names, in the order of the sources."""
        return tuple(self._source_by_name)

    @cached_property
    def _source_by_name(self) -> dict[str, ProblemSource]:
        found: dict[str, ProblemSource] = {}
        for source in self.sources:
            for name in source.names():
                found.setdefault(name, source)
        return found

    def resolve(self, name: str) -> str:
        """The full name of a problem; the library may be omitted from `name` if only one library has that problem.

        Raises:
            UsageError: no problem has this name, or several have it.
        """
        if name in self._source_by_name:
            return name
        bearers = tuple(full for full in self.names if _bare(full) == name)
        if len(bearers) == 1:
            return bearers[0]
        if bearers:
            raise UsageError(f"{name!r} is the name of several operators; type one in full: {', '.join(bearers)}")
        suggestions = self.nearest(name)
        advice = f"did you mean {', '.join(suggestions)}?" if suggestions else "`kgtui problems list` shows them all"
        raise UsageError(f"there is no operator called {name!r}; {advice}")

    def find(self, name: str) -> Problem:
        """The problem called `name`.

        Raises:
            UsageError: no problem has this name, or several have it.
            EngineError: its file is broken.
        """
        full = self.resolve(name)
        problem = self._source_by_name[full].problem(full)
        weaknesses = self._audits.of(problem.id) if self._audits is not None else ()
        return replace(problem, weakness=weaknesses[0]) if weaknesses else problem

    def weakness(self, name: str) -> str:
        """The first weakness in the audit of the problem called `name`; "" if there is none. Runs nothing."""
        full = self.resolve(name)
        source = self._source_by_name[full]
        if self._audits is None or not self._audits.knows(source.id, full):
            return ""
        if _suite(source) is not None:  # an export has many tasks in one file, with different versions
            found = self._audits.of(source.problem(full).id)
        else:
            found = self._audits.of_file(source.id, full, source.file(full))
        return found[0] if found else ""

    def is_foreign(self, name: str) -> bool:
        """Whether the problem called `name` is a task of a suite."""
        return _suite(self._source_by_name[self.resolve(name)]) is not None

    def describe(self, name: str) -> ProblemDescription:
        """Description of the problem called `name` from its file and its audit; raises like `find`; runs nothing."""
        full = self.resolve(name)
        return replace(self._source_by_name[full].describe(full), weakness=self.weakness(full))

    def descriptions(self) -> tuple[tuple[ProblemDescription, ...], tuple[str, ...]]:
        """All available descriptions, and one sentence for each problem that cannot be described."""
        described, broken = [], []
        cache = DescriptionCache(self._cache) if self._cache is not None else None
        for name, source in self._source_by_name.items():
            try:
                read = partial(source.describe, name)
                # Not cached for suites: an export has many problems in one file, and their descriptions depend on the
                # options.
                is_kept = cache is not None and _suite(source) is None
                found = cache.described(source.file(name), read) if cache is not None and is_kept else read()
                weakness = self.weakness(name)
                described.append(replace(found, weakness=weakness) if weakness else found)
            except EngineError as error:
                broken.append(str(error))
        if cache is not None:
            cache.write()
        return tuple(described), tuple(broken)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Up to three full names that resemble `name`, the most similar first."""
        spellings: dict[str, list[str]] = {}
        for full in self.names:
            spellings.setdefault(_bare(full).lower(), []).append(full)
        import difflib  # only for a name that does not exist

        typed = _bare(name).lower()
        holding = [spelling for spelling in spellings if len(typed) >= _LEAST_PART and typed in spelling]
        holding.sort(key=lambda spelling: (not _core(spelling).startswith(typed), len(_core(spelling))))
        close = difflib.get_close_matches(typed, spellings, n=_SUGGESTIONS, cutoff=_LEAST_SIMILARITY)
        found = dict.fromkeys(full for spelling in (*holding, *close) for full in spellings[spelling])
        return tuple(found)[:_SUGGESTIONS]


def open_index(
    *, folders: Sequence[Path] = (), suites: Sequence[SuiteSource] = (), cache: Path | None = None
) -> ProblemIndex:
    """The problems of the catalogue, of the user's folders and of suites; of two with one name the first is used.

    Descriptions of the catalogue and the folders are cached in the file `cache`.
    """
    audits = audits_beside(cache) if cache is not None else None
    own: list[ProblemSource] = []
    if folders:
        from problems.folder import Folder  # most lists have no folder

        own = [Folder(folder) for folder in folders]
    return ProblemIndex((Catalogue(), *own, *suites), cache=cache, audits=audits)


def _suite(source: ProblemSource) -> SuiteSource | None:
    """The source if it is a suite."""
    if isinstance(source, Catalogue):
        return None
    from problems.suites.source import SuiteSource  # its many modules take longer to import than the rest of a list

    return source if isinstance(source, SuiteSource) else None


def _core(spelling: str) -> str:
    """The name in lower case without the parts that all routines of a library share: sgemm for cublasSgemm_v2."""
    return spelling.removeprefix("cublas").removesuffix("_v2")


def _bare(full: str) -> str:
    """The name without its library."""
    return full.rpartition("::")[2]
