"""What is left out of a suite or a set of candidates: a sentence on each of the first, and how many more there are."""

from __future__ import annotations

from collections.abc import Iterable

from problems.suites.files import SuiteFileError
from problems.suites.task import SuiteContents, Task

MOST_SENTENCES = 20


class Complaints:
    """Counts what is left out; a file may have millions of such rows, so only the first sentences are kept."""

    def __init__(self) -> None:
        self.count = 0
        self._sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Count one more, and keep its sentence where there are few."""
        self.count += 1
        if self.count <= MOST_SENTENCES:
            self._sentences.append(sentence)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The first sentences, then one with the number of the others."""
        more = self.count - MOST_SENTENCES
        return (*self._sentences, *([f"{more:,} more files or rows are left out"] if more > 0 else []))


def contents_of(found: Iterable[Task | SuiteFileError]) -> SuiteContents:
    """The tasks in their order, of two with one name the first, and complaints on the others and on all errors."""
    by_name: dict[str, Task] = {}
    complaints = Complaints()
    for one in found:
        if isinstance(one, SuiteFileError):
            complaints.add(str(one))  # not the error: its traceback would keep a whole row in memory
        elif (first := by_name.setdefault(one.name, one)) is not one:
            complaints.add(f"{one.file}: a second task called {one.name}, the first is in {first.file}; left out")
    return SuiteContents(tasks=tuple(by_name.values()), complaints=complaints.sentences, left_out=complaints.count)
