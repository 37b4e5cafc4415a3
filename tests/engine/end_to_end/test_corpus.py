"""Every candidate of the corpus gets the outcome that its first line states.

Honest kernels run over the smoke and the full cases.  A cheat runs over the smoke cases, a wrong kernel also over the
case that shows its mistake; and over all of both tiers where these do not show what the first line states.  Of each
operator the first file always runs over all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model import CaseResult, Finding, Limits, Outcome, Severity, Tier
from engine.static.source import directives
from tests.engine.end_to_end.conftest import Judged
from tests.engine.end_to_end.test_diagnoses import TRUTH

pytestmark = pytest.mark.asyncio(loop_scope="session")

CORPUS = Path(__file__).parents[2] / "corpus"
ALL_TIERS = (Tier.SMOKE, Tier.FULL)
LIMITS = Limits(load_s=5.0, case_s=20.0, memory_bytes=2 << 30)
IMPATIENT = Limits(load_s=10.0, case_s=3.0, memory_bytes=2 << 30)


def _files(kind: str) -> list[pytest.ParameterSet]:
    return [pytest.param(path, id=path.stem) for path in sorted((CORPUS / kind).glob("*.py"))]


def _operator(path: Path) -> str:
    return directives(path.read_text())["op"]


def _mechanism(path: Path) -> str:
    return directives(path.read_text())["ids"].partition(",")[0]


def _firsts(kind: str) -> frozenset[Path]:
    """The first file of each operator."""
    return frozenset({_operator(path): path for path in sorted((CORPUS / kind).glob("*.py"), reverse=True)}.values())


OVER_ALL_CASES = _firsts("wrong") | _firsts("cheats")
by_operator, by_mechanism = pytest.mark.sampled(group=_operator), pytest.mark.sampled(group=_mechanism)


@by_operator
@pytest.mark.parametrize("path", _files("honest"))
async def test_an_honest_kernel_passes(judging, path, record_property):
    judged = await _judge(judging, path, target=None)
    record_property("honest", "flagged" if judged.verdict.flagged else "left alone")
    assert judged.verdict.outcome is Outcome.PASS, judged.verdict.sentence
    assert not judged.verdict.flagged


@by_operator
@pytest.mark.parametrize("path", _files("honest"))
async def test_an_honest_kernel_builds(judging, path):
    # The smoke cases launch every kernel; to compile what all cases launch took two thirds of the corpus' time.
    judged = await _judge(judging, path, target="sm_90", tiers=(Tier.SMOKE,))
    assert judged.verdict.outcome is Outcome.PASS, judged.verdict.sentence
    assert {kernel.outcome for kernel in judged.kernels} == {Outcome.PASS}


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
) -> Judged:
    return await judging(path, problem=_operator(path), tiers=tiers, target=target, limits=limits, also=also)


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
