"""Every candidate of the corpus gets the outcome that its first line states.

Of an operator with several honest files the first runs over all smoke and full cases.  The others run over the smoke
cases and every fifth full case, each file of an operator beginning one case later than the file before it: five such
files run all of them.  The only file of an operator runs over the smoke cases and every third full case, beginning one
case later from operator to operator, since families share their cases.  All but the first run as in a batch, with one
worker.  Every kernel that is launched over the smoke cases (first and only files) or over the cases that run (others)
is compiled for sm_90 after the run.

A cheat or a wrong kernel runs over the smoke cases and the case that its first line names; and over all of both tiers
where these do not show what the first line states.  Of an operator with several honest files the first wrong kernel
always runs over all.

Inputs are those of one draw seed, so that the same tree has the same outcomes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from engine.model import Launch, Limits, Outcome, Tier
from tests.candidates import DRAW_SEED, candidates, flags_of, mechanism, stated, words_of
from tests.engine.end_to_end.conftest import Evaluated
from tests.operators import find

pytestmark = pytest.mark.asyncio(loop_scope="session")

ALL_TIERS = (Tier.SMOKE, Tier.FULL)
LIMITS = Limits(load_s=10.0, case_s=20.0, memory_bytes=2 << 30)
IMPATIENT = Limits(load_s=3.0, case_s=3.0, memory_bytes=2 << 30)
SHARES = 5
SHARES_OF_ONLY_FILES = 3


def _files(kind: str) -> list[ParameterSet]:
    return [pytest.param(path, id=path.stem) for path in candidates(kind)]


HONEST_FILES = Counter(stated(path).op for path in candidates("honest"))
ONLY_FILES = tuple(path for path in candidates("honest") if HONEST_FILES[stated(path).op] == 1)


def _firsts(kind: str) -> frozenset[Path]:
    """The first file of each operator that has several honest ones."""
    firsts = {stated(path).op: path for path in reversed(candidates(kind))}
    return frozenset(path for operator, path in firsts.items() if HONEST_FILES[operator] > 1)


def _share(path: Path) -> tuple[str, ...]:
    """The full cases of an honest file that does not run over all."""
    operator = stated(path).op
    full = [case.name for case in find(operator).cases if case.tier is Tier.FULL]
    if path in ONLY_FILES:
        return tuple(full[ONLY_FILES.index(path) % SHARES_OF_ONLY_FILES :: SHARES_OF_ONLY_FILES])
    turn = [one for one in candidates("honest") if stated(one).op == operator].index(path) - 1
    return tuple(full[turn % SHARES :: SHARES])


OVER_ALL_CASES = _firsts("honest") | _firsts("wrong")


@pytest.mark.sampled
@pytest.mark.parametrize("path", _files("honest"))
async def test_honest_kernel_passes_and_builds(evaluate, compiled_for, path, record_property):
    operator = stated(path).op
    if path in OVER_ALL_CASES:
        judged = await _judge(evaluate, path, target=None)
    else:
        judged = await _judge(evaluate, path, target=None, tiers=(Tier.SMOKE,), also=_share(path), one_worker=True)
    if path in OVER_ALL_CASES or path in ONLY_FILES:
        launches = _of_smoke_cases(judged, operator)
    else:
        launches = [launch for of_case in judged.launches.values() for launch in of_case]
    kernels = await compiled_for("sm_90", path, operator, launches)
    record_property("honest", "flagged" if judged.verdict.flagged else "left alone")
    assert judged.verdict.outcome is Outcome.PASS, judged.verdict.sentence
    assert not judged.verdict.flagged
    if kernels or not find(operator).framework:
        assert {kernel.outcome for kernel in kernels} == {Outcome.PASS}


async def test_shares_of_honest_files_cover_all_full_cases():
    first, *others = (path for path in candidates("honest") if stated(path).op == "aten::silu")
    full = [case.name for case in find("aten::silu").cases if case.tier is Tier.FULL]
    assert first in OVER_ALL_CASES
    assert sorted(name for path in others[:SHARES] for name in _share(path)) == sorted(full)


@pytest.mark.sampled
@pytest.mark.parametrize("path", _files("wrong"))
async def test_a_wrong_kernel_fails_as_stated(evaluate, path):
    target = "sm_90" if "compile_error" in stated(path).expect else None
    judged = await _judge_until(_ends_as_stated, evaluate, path, target=target)
    assert words_of(judged.verdict.outcome, judged.cases) & stated(path).expect, judged.verdict.sentence


@pytest.mark.sampled(group=mechanism)
@pytest.mark.parametrize("path", _files("cheats"))
async def test_cheat_ends_with_its_stated_verdict(evaluate, path, record_property):
    judged = await _judge_until(_is_caught_as_stated, evaluate, path, target=None, limits=IMPATIENT)
    is_believed = judged.verdict.outcome is Outcome.PASS and not judged.verdict.flagged
    record_property("cheat", "passed" if is_believed else "caught")
    assert words_of(judged.verdict.outcome, judged.cases) & stated(path).expect, judged.verdict.sentence
    if judged.verdict.outcome is Outcome.PASS:
        assert judged.verdict.flagged
        assert flags_of(judged.findings) & stated(path).findings


async def _judge(
    evaluate,
    path: Path,
    *,
    target: str | None,
    limits: Limits = LIMITS,
    tiers: tuple[Tier, ...] = ALL_TIERS,
    also: tuple[str, ...] = (),
    one_worker: bool = False,
) -> Evaluated:
    return await evaluate(
        path, problem=stated(path).op, tiers=tiers, target=target, limits=limits, also=also,
        draw_seed=DRAW_SEED, one_worker=one_worker,
    )  # fmt: skip


def _of_smoke_cases(judged: Evaluated, operator: str) -> list[Launch]:
    """What the smoke cases, which run before the others, launched."""
    launches = judged.launches
    return [one for case in find(operator).cases if case.tier is Tier.SMOKE for one in launches.get(case.name, ())]


async def _judge_until(
    is_shown: Callable[[Evaluated, Path], bool], evaluate, path: Path, *, target: str | None, limits: Limits = LIMITS
) -> Evaluated:
    """The run over few cases where it shows what the file states, else the run over all cases."""
    if path not in OVER_ALL_CASES:
        case = stated(path).case
        also = (case,) if case is not None else ()
        judged = await _judge(evaluate, path, target=target, limits=limits, tiers=(Tier.SMOKE,), also=also)
        if is_shown(judged, path):
            return judged
    return await _judge(evaluate, path, target=target, limits=limits)


def _ends_as_stated(judged: Evaluated, path: Path) -> bool:
    return bool(words_of(judged.verdict.outcome, judged.cases) & stated(path).expect)


def _is_caught_as_stated(judged: Evaluated, path: Path) -> bool:
    if not _ends_as_stated(judged, path) or judged.verdict.outcome is not Outcome.PASS:
        return _ends_as_stated(judged, path)
    return judged.verdict.flagged and bool(flags_of(judged.findings) & stated(path).findings)
