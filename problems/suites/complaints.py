"""Complaints about skipped parts of a suite or a set of candidates: the first sentences, and the number of others."""

from __future__ import annotations

from collections.abc import Iterable

from problems.suites.files import SuiteFileError
from problems.suites.task import SuiteContents, Task

MOST_SENTENCES = 20


class Complaints:
    """Counts skipped rows and files; a file may have millions of them, so only the first sentences are stored."""

    def __init__(self) -> None:
        self.count = 0
        self._sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Count one more, and store its sentence if there are few."""
        self.count += 1
        if self.count <= MOST_SENTENCES:
            self._sentences.append(sentence)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The first sentences, then one with the number of the others."""
        more = self.count - MOST_SENTENCES
        return (*self._sentences, *([f"{more:,} more files or rows are left out"] if more > 0 else []))


def contents_of(found: Iterable[Task | SuiteFileError]) -> SuiteContents:
    """The tasks in order (of two with one name the first), and complaints about the others and about all errors."""
    by_name: dict[str, Task] = {}
    complaints = Complaints()
    for one in found:
        if isinstance(one, SuiteFileError):
            complaints.add(str(one))  # not the error itself: its traceback would keep a whole row in memory
        elif (first := by_name.setdefault(one.name, one)) is not one:
            complaints.add(f"{one.file}: a second task called {one.name}, the first is in {first.file}; left out")
    return SuiteContents(tasks=tuple(by_name.values()), complaints=complaints.sentences, left_out=complaints.count)
