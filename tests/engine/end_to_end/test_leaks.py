"""Nothing is left behind: not after many saves, not after a run is cut short, not when the parent is killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import Candidate, Limits, Outcome, Plan, Stage, Tier
from engine.model.commands import CancelRun
from engine.model.events import CaseFinished, RunFinished, StageStarted
from tests.engine.process_tree import fork_servers_of
from tests.guards import PATIENCE_S
from tests.operators import find

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAVES = 25
WARM = 5  # caches are filled once
ROUNDS = 3  # a leak grows in every round of saves; what an allocator happens to keep grows in one
GROWTH_BYTES = 64 * 1024  # per save


@pytest.mark.slow
async def test_saves_leave_no_process_descriptor_folder_or_growth(tmp_path, copy_kernel):
    async with Engine(device="cpu", artefacts=ArtefactStore(folder=tmp_path), environment=os.environ) as engine:
        for number in range(WARM):
            await _save(engine, copy_kernel, number)
        await engine.wait_until_warm()
        states = [_state(engine)]
        grown_bytes: list[int] = []
        while len(grown_bytes) < ROUNDS and not (grown_bytes and grown_bytes[-1] < SAVES * GROWTH_BYTES):
            for number in range(SAVES):
                assert await _save(engine, copy_kernel, WARM + len(grown_bytes) * SAVES + number) is Outcome.PASS
            await engine.wait_until_warm()
            states.append(_state(engine))
            grown_bytes.append(states[-1]["memory_bytes"] - states[-2]["memory_bytes"])
    for count in ("processes", "descriptors", "folders"):
        assert {state[count] for state in states} == {states[0][count]}
    assert grown_bytes[-1] < SAVES * GROWTH_BYTES, f"all processes together grew by {grown_bytes} bytes in the rounds"


async def test_cancelled_run_ends_as_cancelled_without_worker(engine, tmp_path):
    source = b"def silu(self):\n    while True:\n        pass\n"
    plan = Plan.for_tiers(find("aten::silu"), tiers=(Tier.SMOKE,), device="cpu", target=None)
    await engine.wait_until_warm()
    before = len(_processes(engine))
    verdict = None
    async for event in engine.evaluate(Candidate(source=source, problem="aten::silu"), plan, run_id="1"):
        if isinstance(event, StageStarted) and event.stage is Stage.VERIFY:
            engine.send(CancelRun(run_id="1"))
        if isinstance(event, RunFinished):
            verdict = event.verdict
    assert verdict is not None
    assert verdict.outcome is Outcome.CANCELLED
    await engine.wait_until_warm()
    assert len(_processes(engine)) == before


async def test_closing_the_generator_early_kills_the_worker(engine, copy_kernel):
    plan = Plan.for_tiers(find("aten::silu"), tiers=(Tier.SMOKE,), device="cpu", target="sm_90")
    await engine.wait_until_warm()
    before = len(_processes(engine))
    events = engine.evaluate(Candidate(source=copy_kernel.encode(), problem="aten::silu"), plan)
    async for event in events:
        if isinstance(event, CaseFinished):
            break
    await events.aclose()
    await engine.wait_until_warm()
    assert len(_processes(engine)) == before


PARENT = '''
import asyncio, os, sys
from pathlib import Path
from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import Candidate, Plan, Tier
from engine.model.events import LogWritten
from tests.operators import find

SOURCE = b"""
import ctypes, os, signal, time
import torch

def silu(self):
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # no signal when our parent dies
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (1, 2, 15):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(120)
            os._exit(0)
        time.sleep(120)
        os._exit(0)
    print("daemon started", flush=True)
    time.sleep(120)
"""

async def main():
    store = ArtefactStore(folder=Path(sys.argv[1]))
    async with Engine(device="cpu", artefacts=store, environment=os.environ) as engine:
        await engine.wait_until_warm()
        plan = Plan.for_tiers(find("aten::silu"), tiers=(Tier.SMOKE,), device="cpu", target=None)
        async for event in engine.evaluate(Candidate(source=SOURCE, problem="aten::silu"), plan):
            if isinstance(event, LogWritten):
                print("ready", flush=True)

asyncio.run(main())
'''


async def test_no_child_outlives_a_killed_parent(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"
    children = _descendants(parent.pid)
    assert len(children) >= 6  # the fork server and its helper, judge, worker, its daemon and that one's parent
    handles = {pid: os.pidfd_open(pid) for pid in children}
    assert len(_own_folders(parent.pid)) == 2
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for pid, handle in handles.items():
        ended, _, _ = select.select([handle], [], [], PATIENCE_S)
        os.close(handle)
        assert ended, f"process {pid} outlived its parent"
    assert _own_folders(parent.pid) == []


async def test_every_process_is_called_by_its_job(artefacts):
    async with Engine(device="cpu", artefacts=artefacts, environment=os.environ) as engine:
        await engine.wait_until_warm()
        names = sorted(Path(f"/proc/{pid}/comm").read_text().strip() for pid in _processes(engine))
    assert names == [
        "kgtui-compiler",
        "kgtui-forkserv",
        "kgtui-judge",
        "kgtui-killer",
        *("kgtui-worker", "kgtui-worker"),
    ]


async def _save(engine: Engine, source: str, number: int) -> Outcome:
    candidate = Candidate(source=f"{source}\n# save {number}\n".encode(), problem="aten::silu")
    case = next(case for case in find("aten::silu").cases if case.tier is Tier.SMOKE)
    plan = Plan(problem=find("aten::silu"), cases=(case,), device="cpu", target=None, limits=Limits())
    outcome = Outcome.ENGINE_ERROR
    async for event in engine.evaluate(candidate, plan):
        if isinstance(event, RunFinished):
            outcome = event.verdict.outcome
    return outcome


def _state(engine: Engine) -> dict[str, int]:
    processes = [os.getpid(), *_processes(engine)]
    return {
        "processes": len(processes),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "folders": sum(len(list(folder.iterdir())) for folder in engine.folders),
        "memory_bytes": sum(_resident_bytes(pid) for pid in processes),
    }


def _processes(engine: Engine) -> list[int]:
    return [pid for fork_server in fork_servers_of(engine) for pid in (fork_server, *_descendants(fork_server))]


def _descendants(root: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found: list[int] = []
    level = [root]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found += level
    return found


def _own_folders(pid: int) -> list[Path]:
    return [
        folder for place in (Path(tempfile.gettempdir()), Path("/dev/shm")) for folder in place.glob(f"kgtui-{pid}-*")
    ]


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
