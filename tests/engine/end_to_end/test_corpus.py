"""Every candidate of the corpus gets the outcome that its first line states.

Of each operator the first honest file runs over all smoke and full cases.  The others run over the smoke cases and
every fifth full case, each file of an operator beginning one case later than the file before it: five such files run
all of them.  Every kernel that is launched over the smoke cases (first files) or over the cases that run (others) is
compiled for sm_90.

A cheat runs over the smoke cases, a wrong kernel also over the case that shows its mistake; and over all of both
tiers where these do not show what the first line states.  Of each operator the first file always runs over all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model import CaseResult, Finding, Limits, Outcome, Severity, Tier
from engine.static.source import directives
from problems import find
from tests.engine.end_to_end.conftest import Judged
from tests.engine.end_to_end.test_diagnoses import TRUTH

pytestmark = pytest.mark.asyncio(loop_scope="session")

CORPUS = Path(__file__).parents[2] / "corpus"
ALL_TIERS = (Tier.SMOKE, Tier.FULL)
LIMITS = Limits(load_s=10.0, case_s=20.0, memory_bytes=2 << 30)
IMPATIENT = Limits(load_s=10.0, case_s=3.0, memory_bytes=2 << 30)
SHARES = 5


def _paths(kind: str) -> list[Path]:
    return sorted((CORPUS / kind).glob("*.py"))


def _files(kind: str) -> list[pytest.ParameterSet]:
    return [pytest.param(path, id=path.stem) for path in _paths(kind)]


def _operator(path: Path) -> str:
    return directives(path.read_text())["op"]


def _mechanism(path: Path) -> str:
    return directives(path.read_text())["ids"].partition(",")[0]


def _firsts(kind: str) -> frozenset[Path]:
    """The first file of each operator."""
    return frozenset({_operator(path): path for path in reversed(_paths(kind))}.values())


def _share(path: Path) -> tuple[str, ...]:
    """The full cases of an honest file that is not the first of its operator."""
    operator = _operator(path)
    turn = [one for one in _paths("honest") if _operator(one) == operator].index(path) - 1
    full = [case.name for case in find(operator).cases if case.tier is Tier.FULL]
    return tuple(full[turn % SHARES :: SHARES])


OVER_ALL_CASES = _firsts("honest") | _firsts("wrong") | _firsts("cheats")
by_operator, by_mechanism = pytest.mark.sampled(group=_operator), pytest.mark.sampled(group=_mechanism)


@by_operator
@pytest.mark.parametrize("path", _files("honest"))
async def test_an_honest_kernel_passes_and_builds(judging, path, record_property):
    if path in OVER_ALL_CASES:
        judged = await _judge(judging, path, target=None)
        _assert_left_alone(judged, record_property)
        judged = await _judge(judging, path, target="sm_90", tiers=(Tier.SMOKE,), sass=False)
    else:
        judged = await _judge(judging, path, target="sm_90", tiers=(Tier.SMOKE,), also=_share(path), sass=False)
        _assert_left_alone(judged, record_property)
    assert judged.verdict.outcome is Outcome.PASS, judged.verdict.sentence
    assert {kernel.outcome for kernel in judged.kernels} == {Outcome.PASS}


async def test_the_shares_of_five_honest_files_are_all_full_cases():
    first, *others = (path for path in _paths("honest") if _operator(path) == "aten::silu")
    full = [case.name for case in find("aten::silu").cases if case.tier is Tier.FULL]
    assert first in OVER_ALL_CASES
    assert sorted(name for path in others[:SHARES] for name in _share(path)) == sorted(full)


@by_operator
@pytest.mark.parametrize("path", _files("wrong"))
async def test_a_wrong_kernel_fails_as_stated(judging, path):
    target = "sm_90" if "compile_error" in _stated(path) else None
    judged = await _judge_until(_ends_as_stated, judging, path, target=target)
    assert _words(judged.verdict.outcome, judged.cases) & _stated(path), judged.verdict.sentence


@by_mechanism
@pytest.mark.parametrize("path", _files("cheats"))
async def test_a_cheat_does_not_pass_and_ends_as_stated(judging, path, record_property):
    judged = await _judge_until(_is_caught_as_stated, judging, path, target=None, limits=IMPATIENT)
    is_believed = judged.verdict.outcome is Outcome.PASS and not judged.verdict.flagged
    record_property("cheat", "passed" if is_believed else "caught")
    assert _words(judged.verdict.outcome, judged.cases) & _stated(path), judged.verdict.sentence
    if judged.verdict.outcome is Outcome.PASS:
        assert judged.verdict.flagged
        assert _flags(judged.findings) & _findings_stated(path)


async def _judge(
    judging,
    path: Path,
    *,
    target: str | None,
    limits: Limits = LIMITS,
    tiers: tuple[Tier, ...] = ALL_TIERS,
    also: tuple[str, ...] = (),
    sass: bool = True,
) -> Judged:
    return await judging(path, problem=_operator(path), tiers=tiers, target=target, limits=limits, also=also, sass=sass)


def _assert_left_alone(judged: Judged, record_property: Callable[[str, object], None]) -> None:
    """The run passed and nothing in it is suspect; counted in the summary."""
    record_property("honest", "flagged" if judged.verdict.flagged else "left alone")
    assert judged.verdict.outcome is Outcome.PASS, judged.verdict.sentence
    assert not judged.verdict.flagged


async def _judge_until(
    is_shown: Callable[[Judged, Path], bool], judging, path: Path, *, target: str | None, limits: Limits = LIMITS
) -> Judged:
    """The run over few cases where it shows what the file states, else the run over all cases."""
    if path not in OVER_ALL_CASES:
        also = (TRUTH[path.stem][1],) if path.stem in TRUTH else ()
        judged = await _judge(judging, path, target=target, limits=limits, tiers=(Tier.SMOKE,), also=also)
        if is_shown(judged, path):
            return judged
    return await _judge(judging, path, target=target, limits=limits)


def _ends_as_stated(judged: Judged, path: Path) -> bool:
    return bool(_words(judged.verdict.outcome, judged.cases) & _stated(path))


def _is_caught_as_stated(judged: Judged, path: Path) -> bool:
    if not _ends_as_stated(judged, path) or judged.verdict.outcome is not Outcome.PASS:
        return _ends_as_stated(judged, path)
    return judged.verdict.flagged and bool(_flags(judged.findings) & _findings_stated(path))


def _flags(findings: list[Finding]) -> set[str]:
    """The checks that found what makes a run not credible."""
    return {finding.check for finding in findings if finding.severity in (Severity.SUSPECT, Severity.PROOF)}


def _stated(path: Path) -> set[str]:
    return set(directives(path.read_text())["expect"].split("|"))


def _findings_stated(path: Path) -> set[str]:
    return set(directives(path.read_text())["finding"].split("|"))


def _words(outcome: Outcome, cases: list[CaseResult]) -> set[str]:
    """The outcome, and "out_of_bounds" when a case has such a report.

    A wrong value that meets a special one of the inputs may be one that is not finite, which names the run; where
    the special values lie is drawn anew in each run.
    """
    words = {outcome.value} | {"out_of_bounds" for case in cases if case.out_of_bounds is not None}
    if outcome is Outcome.NONFINITE:
        words |= {case.outcome.value for case in cases if case.outcome is Outcome.WRONG_VALUE}
    return words
