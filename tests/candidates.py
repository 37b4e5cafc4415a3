"""The candidates of `tests/corpus`, and what the first line of each file states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.model import CaseResult, Finding, Outcome, Severity
from engine.static.source import directives

CORPUS = Path(__file__).parent / "corpus"
DRAW_SEED = 1
"""What the runs of tests draw their inputs from, so that a test has the same outcome every time."""

_CASE = re.compile(r'case="([^"]*)"')


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The first line of a file; `case` is one that shows the stated outcome, `diagnosis` what is found of a mistake."""

    op: str
    expect: frozenset[str]
    findings: frozenset[str]
    ids: frozenset[str]
    diagnosis: str | None
    case: str | None


def candidates(kind: str) -> list[Path]:
    """The files of a kind, "honest", "wrong", "cheats" or "cheats_gpu", in the order of their names."""
    return sorted((CORPUS / kind).rglob("*.py"), key=lambda path: path.stem)


def candidates_named(kind: str, names: Sequence[str]) -> list[Path]:
    """The files of a kind with these names, which have no folder and no suffix; all of them without names.

    Raises:
        SystemExit: there is none of a name; the message has it.
    """
    by_name = {path.stem: path for path in candidates(kind)}
    if unknown := sorted(set(names) - by_name.keys()):
        raise SystemExit(f"no {kind} file of the corpus is called {', '.join(unknown)}")
    return [by_name[name] for name in names or by_name]


def cheat(name: str) -> Path:
    """The cheat of this name, of whatever mechanism."""
    (path,) = (CORPUS / "cheats").glob(f"*/{name}.py")
    return path


def mechanism(path: Path) -> str:
    """How a cheat works: the folder that it is in."""
    return path.parent.name


def stated(path: Path) -> Stated:
    """What the first line of a file says of it."""
    text = path.read_text()
    found = directives(text)
    case = _CASE.search(text.partition("\n")[0])
    return Stated(
        op=found["op"],
        expect=frozenset(found["expect"].split("|")),
        findings=frozenset(found["finding"].split("|")) if "finding" in found else frozenset(),
        ids=frozenset(found["ids"].split(",")) if "ids" in found else frozenset(),
        diagnosis=found.get("diagnosis"),
        case=case.group(1) if case else None,
    )


def flags_of(findings: Iterable[Finding]) -> set[str]:
    """The checks that found what makes a run not credible."""
    return {finding.check for finding in findings if finding.severity in (Severity.SUSPECT, Severity.PROOF)}


def words_of(outcome: Outcome, cases: Iterable[CaseResult]) -> set[str]:
    """The outcome, and "out_of_bounds" when a case has such a report.

    A wrong value that meets a special one of the inputs may be one that is not finite, which names the run; where
    the special values lie depends on the draw.
    """
    every = tuple(cases)
    words = {outcome.value} | {"out_of_bounds" for case in every if case.out_of_bounds is not None}
    if outcome is Outcome.NONFINITE:
        words |= {case.outcome.value for case in every if case.outcome is Outcome.WRONG_VALUE}
    return words
