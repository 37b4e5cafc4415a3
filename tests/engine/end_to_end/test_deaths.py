"""Real processes of the engine are killed at every stage of a run: its verdict is right, and so is the next."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model import Candidate, Outcome, Plan, Stage, Tier, Verdict, events
from tests.engine.end_to_end.conftest import COPY_KERNEL, SMALL
from tests.engine.process_tree import children_of, fork_servers_of
from tests.operators import find

pytestmark = pytest.mark.asyncio(loop_scope="session")

STAGES = (Stage.LOAD, Stage.VERIFY, Stage.PROVE, Stage.COMPILE, Stage.PROBE)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["kgtui-judge", "kgtui-worker", "kgtui-compiler", "kgtui-forkserv"])
async def test_process_killed_at_every_stage_leaves_verdicts_right(engine: Engine, kind: str) -> None:
    for stage in STAGES:
        verdict, killed, unproven = await judged(engine, kind, at=stage)
        assert (verdict.outcome, verdict.flagged) == (Outcome.PASS, False), (stage, verdict.sentence)
        assert verdict.proven == verdict.total, (stage, unproven)
        assert killed, stage
    verdict, _, _ = await judged(engine, kind, at=None)
    assert (verdict.outcome, verdict.flagged) == (Outcome.PASS, False), verdict.sentence


async def judged(engine: Engine, kind: str, *, at: Stage | None) -> tuple[Verdict, list[int], list[str]]:
    """The verdict on a right kernel, the processes of this kind killed in the stage, and reasons of unproven cases."""
    candidate = Candidate(source=COPY_KERNEL.encode(), problem="aten::silu", filename="kernel.py")
    plan = Plan.for_tiers(find("aten::silu"), tiers=(Tier.SMOKE,), device="cpu", target="sm_90", limits=SMALL)
    await engine.wait_until_warm()
    killed: list[int] = []
    unproven: list[str] = []
    async with contextlib.aclosing(engine.evaluate(candidate, plan)) as running:
        async for event in running:
            if isinstance(event, events.StageStarted) and event.stage is at:
                killed = [pid for pid in processes_of(engine) if name_of(pid) == kind]
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            if isinstance(event, events.CaseProven) and not event.proof.proven:
                unproven.append(event.proof.reason)
            if isinstance(event, events.RunFinished):
                return event.verdict, killed, unproven
    pytest.fail("the run ended without a verdict")


def processes_of(engine: Engine) -> Iterator[int]:
    """The fork servers, and what they started."""
    for fork_server in fork_servers_of(engine):
        with contextlib.suppress(OSError):  # killed in the stage before, and not needed since
            yield from (fork_server, *children_of(fork_server))


def name_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
