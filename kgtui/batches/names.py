"""Lookup of operators of the workbench for candidates."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import UsageError
from engine.problem_source import ProblemDescription


class DescribedNames:
    """Operators by their full names, and by bare names that are unique among libraries."""

    def __init__(self, descriptions: Sequence[ProblemDescription]) -> None:
        self._by_name = {one.name: one for one in descriptions}
        self._full_by_bare: dict[str, list[str]] = {}
        for name in self._by_name:
            self._full_by_bare.setdefault(name.rpartition("::")[2], []).append(name)

    def resolve(self, name: str) -> str:
        """The full name of an operator.

        Raises:
            UsageError: no operator has this name, or several have.
        """
        if name in self._by_name:
            return name
        full_names = self._full_by_bare.get(name, [])
        if len(full_names) > 1:
            raise UsageError(f"{name!r} is the name of several operators; use one in full: {', '.join(full_names)}")
        if not full_names:
            raise UsageError(f"there is no operator called {name!r}")
        return full_names[0]

    def entry(self, name: str) -> str:
        """The function that a candidate for this operator defines."""
        return self._by_name[name].entry
