"""Candidates of a batch, read from a folder of files or from rows of JSON lines; none is run here.

A candidate that cannot be run stays in the list with the reason.  Sources are read once for their digest and again
when they run, so that a file of any size is never in memory as a whole.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from engine.errors import EngineError, UsageError
from engine.static.source import MAX_SOURCE_BYTES, SourceError, decode, directives, unknown_directives
from kgtui.batches.json_lines import Row, rows_of
from kgtui.batches.naming import guesses
from kgtui.files import disk
from kgtui.generation.extraction import extract
from problems.suites.candidates.reading import candidates_of
from problems.suites.candidates.record import SuiteCandidate
from problems.suites.source import SuiteSource
from sessions.candidates.checked import ListedCandidate
from sessions.candidates.generation_rows import Stop

_UNNUMBERED = 0  # until all candidates are known
_PYTHON, _ANSWERS, _ROWS = ".py", (".txt", ".md"), ".jsonl"


class Names(Protocol):
    """The operators by name."""

    def resolve(self, name: str, /) -> str:
        """The full name of an operator.

        Raises:
            UsageError: there is no such operator.
        """

    def entry(self, name: str, /) -> str:
        """The function that a candidate for this operator defines.

        Raises:
            EngineError: its file is broken.
        """


@dataclass(frozen=True, kw_only=True)
class BatchCandidate:
    """One candidate; `read` gives its source, and is only called where the candidate has a digest.

    `filename` is that of its file, None if its source is a part of a file.
    """

    listed: ListedCandidate
    read: Callable[[], bytes]
    filename: str | None = None


@dataclass(frozen=True, kw_only=True)
class CandidateSet:
    """All candidates in order, with sentences on files and rows that are not candidates and on unknown directives."""

    candidates: tuple[BatchCandidate, ...]
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A candidate without a number yet: its name, its possible operators, and its text."""

    name: str
    operators: tuple[str, ...]
    sample: int | None
    read: Callable[[], bytes]
    is_answer: bool
    filename: str | None = None


def read_candidates(path: Path, names: Names, *, operator: str | None = None) -> CandidateSet:
    """The candidates of a folder, a file of JSON lines or one kernel file; all for `operator` if that is given.

    Raises:
        UsageError: there is no such path, it cannot be read, or it has no candidate.
    """
    complaints: list[str] = []
    if path.is_dir():
        found = list(_of_folder(path, complaints))
    elif path.is_file():
        found = list(_of_file(path, path.name, complaints))
    else:
        raise UsageError(f"no candidates at {path}: there is no such folder or file")
    if not found:
        why = f"; {complaints[0]}" if complaints else ""
        raise UsageError(f"{path} has no candidates: expected .py, .txt or .md files, or rows in a .jsonl file{why}")
    unknown: list[str] = []
    candidates = [_listed(one, names, unknown, operator=operator) for one in found]
    if unknown:  # one sentence: a script that writes a word writes it into every file
        complaints.append(f"{unknown[0]} ({len(unknown) - 1} more like this)" if unknown[1:] else unknown[0])
    return CandidateSet(candidates=_numbered(candidates, [one.sample for one in found]), complaints=tuple(complaints))


def _of_folder(folder: Path, complaints: list[str]) -> Iterator[_Found]:
    """The candidates below a folder, in the order of their paths; a link out of the folder is not followed."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        shown = path.relative_to(folder)
        if any(part.startswith((".", "__pycache__")) for part in shown.parts) or not path.is_file():
            continue
        if not path.resolve().is_relative_to(root):
            complaints.append(f"{shown}: not read: the link points outside of {folder}")
            continue
        yield from _of_file(path, str(shown), complaints)


def _of_file(path: Path, shown: str, complaints: list[str]) -> Iterator[_Found]:
    if path.suffix == _ROWS:
        yield from (_of_row(row) for row in rows_of(path, shown, complaints))
    elif path.suffix == _PYTHON or path.suffix in _ANSWERS:
        guessed = guesses(Path(shown))

        def read() -> bytes:
            return disk.read(path)

        yield _Found(
            name=shown,
            operators=guessed.operators,
            sample=guessed.sample,
            read=read,
            is_answer=path.suffix in _ANSWERS,
            filename=path.name if path.suffix == _PYTHON else None,
        )


def _of_row(row: Row) -> _Found:
    operators = guesses(Path(row.operator)).operators if row.operator else ()
    return _Found(name=row.name, operators=operators, sample=row.sample, read=row.read, is_answer=row.is_answer)


def suite_candidates(path: Path, suite: SuiteSource) -> CandidateSet:
    """The candidates for the tasks of a suite, in the forms of the suite.

    Raises:
        UsageError: there is no such path, or it has no candidate.
    """
    if not path.exists():
        raise UsageError(f"no candidates at {path}: there is no such folder or file")
    found = candidates_of(path, [suite.task(name) for name in suite.names()])
    if not found.candidates:
        why = f"; {found.complaints[0]}" if found.complaints else ""
        raise UsageError(f"{path} has no candidates for the tasks of {suite.choice.path}{why}")
    root = path if path.is_dir() else path.parent
    candidates = [_of_suite(one, suite, root=root) for one in found.candidates]
    return CandidateSet(
        candidates=_numbered(candidates, [one.sample for one in found.candidates]), complaints=found.complaints
    )


def _of_suite(one: SuiteCandidate, suite: SuiteSource, *, root: Path) -> BatchCandidate:
    problem, source = f"{suite.format.id}::{one.task}", one.text.encode(errors="surrogatepass")
    listed = ListedCandidate(
        name=one.origin.removeprefix(f"{root}/"),
        problem=problem,
        sample=_UNNUMBERED,
        digest=hashlib.sha256(source).hexdigest(),
    )
    return BatchCandidate(listed=listed, read=lambda: source)


def _numbered(candidates: Sequence[BatchCandidate], wanted: Sequence[int | None]) -> tuple[BatchCandidate, ...]:
    """The candidates, those of an operator with distinct sample numbers.

    Each has the number that it names; the others, and those whose number is taken, have the next free ones.
    """
    taken: dict[str, set[int]] = {}
    samples: dict[int, int] = {}
    for place, (one, sample) in enumerate(zip(candidates, wanted, strict=True)):
        numbers = taken.setdefault(one.listed.problem, set())
        if sample is not None and sample not in numbers:
            numbers.add(sample)
            samples[place] = sample
    before = Counter[str]()
    for place, one in enumerate(candidates):
        before[one.listed.problem] += 1
        if place not in samples:
            numbers = taken[one.listed.problem]
            free = itertools.count(before[one.listed.problem])
            samples[place] = next(number for number in free if number not in numbers)
            numbers.add(samples[place])
    return tuple(
        replace(one, listed=replace(one.listed, sample=samples[place])) for place, one in enumerate(candidates)
    )


def _listed(one: _Found, names: Names, unknown: list[str], *, operator: str | None) -> BatchCandidate:
    """The candidate with its operator, its digest and, if it is not run, the reason; adds to `unknown` directives."""
    problem, digest, refusal = "", "", ""
    read: Callable[[], bytes] = one.read
    try:
        content = one.read()
        named = _operator(one, content, names, operator=operator)
        entry = names.entry(named)
        problem = named  # errors from here on are the candidate's
        source = _source(content, one, entry=entry)
        digest = hashlib.sha256(source).hexdigest()
        if words := _unknown_directives(source):
            unknown.append(f"{one.name}: {words}")

        def read_again() -> bytes:
            return _source(one.read(), one, entry=entry)

        read = read_again
    except (UsageError, EngineError, SourceError) as error:
        refusal = str(error)
    listed = ListedCandidate(name=one.name, problem=problem, sample=_UNNUMBERED, digest=digest, refusal=refusal)
    return BatchCandidate(listed=listed, read=read, filename=one.filename)


def _operator(one: _Found, content: bytes, names: Names, *, operator: str | None) -> str:
    """The operator given by the user, by a directive of the source, or by the candidate's name.

    Raises:
        UsageError: there is no such operator.
        SourceError: nothing names one, and the source is not text.
    """
    if operator is not None:
        return names.resolve(operator)
    named = _directive(content)
    if named is not None:
        return names.resolve(named)
    for guess in one.operators:
        try:
            return names.resolve(guess)
        except UsageError:
            continue
    decode(content, one.name)
    raise UsageError(f"names no known operator ({_tried(one.operators)}); `kgtui problems list` lists them")


def _directive(content: bytes) -> str | None:
    try:
        return directives(decode(content, "")).get("op")
    except SourceError:
        return None


def _unknown_directives(source: bytes) -> str:
    try:
        return unknown_directives(decode(source, ""))
    except SourceError:  # its run reports that
        return ""


def _tried(operators: Sequence[str]) -> str:
    return f"tried {', '.join(operators[:3])}" if operators else "it has no field op, file or task"


def _source(content: bytes, one: _Found, *, entry: str) -> bytes:
    """The kernel file; of an answer the one block of code that defines the entry.

    Raises:
        UsageError: the answer has no such block.
    """
    if not one.is_answer or len(content) > MAX_SOURCE_BYTES:
        return content
    found = extract(decode(content, one.name), entry=entry, stop=Stop.COMPLETE)
    if found.source is None:
        raise UsageError(found.reason)
    return found.source.encode()
