"""A run that is left at any of its steps leaves no generator open, which would be closed later beside itself."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.model import Candidate, Plan
from engine.model.commands import CancelRun
from engine.model.events import Event
from engine.tuning.tunables import Variant
from kgtui.cli.choices import SAMPLE
from kgtui.cli.command_line import parse
from kgtui.cli.commands import tune
from kgtui.cli.commands.check import read_request
from kgtui.cli.console import Console
from kgtui.cli.runs.run_command import _Running
from kgtui.ports.requests import RetargetRequest, RunRequest
from kgtui.runner.driver import RunDriver
from kgtui.runner.run_queue import Ticket, _carry_out
from tests.kgtui import fakes

Work = Callable[[], Awaitable[object]]
TIMES = (1, 2)


class LayeredEngine:
    """Judges through three generators as the engine does: each closes the one below, and the last takes its time."""

    device_name = "Triton interpreter"

    async def __aenter__(self) -> LayeredEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(0)

    def send(self, command: CancelRun) -> None:
        pass

    async def evaluate(
        self, candidate: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        async with contextlib.aclosing(self._layer(fakes.all_pass(candidate, plan))) as events:
            async for event in events:
                yield event

    async def retarget(
        self,
        candidate: Candidate,
        *,
        entry: str,
        launches: Sequence[Any],
        targets: Sequence[str],
        after_s: float = 0.0,
        run_id: str | None = None,
    ) -> AsyncGenerator[Event, None]:
        events = fakes.ported(launches, targets, after_s)
        async with contextlib.aclosing(self._layer(events)) as reported:
            async for event in reported:
                yield event

    async def _layer(self, events: Sequence[Event]) -> AsyncGenerator[Event, None]:
        async with contextlib.aclosing(self._work(events)) as reported:
            async for event in reported:
                yield event

    async def _work(self, events: Sequence[Event]) -> AsyncGenerator[Event, None]:
        try:
            for event in events:
                await asyncio.sleep(0)
                yield event
        finally:
            await asyncio.sleep(0)


def left(work: Work, *, after: int, times: int) -> tuple[bool, list[str], int]:
    """Cancel `work` so many steps after its begin: whether it was over by itself, what was complained of, what is open.

    Every generator is held on to, as a traceback or a debugger may do, so that none is closed by being forgotten.
    """
    complaints: list[str] = []
    begun: list[Any] = []  # the types of the library have no `ag_frame`

    async def scenario() -> tuple[bool, int]:
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: complaints.append(f"{context['message']}: {context.get('exception')}")
        )
        usual = sys.get_asyncgen_hooks()
        assert usual.firstiter is not None

        def note(generator: AsyncGenerator[Any, None]) -> None:
            begun.append(generator)
            usual.firstiter(generator)

        sys.set_asyncgen_hooks(firstiter=note)
        task = asyncio.ensure_future(work())
        for _ in range(after):
            await asyncio.sleep(0)
        was_over = task.done()
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is not None:
            complaints.append(f"{task.exception()!r}")
        return was_over, sum(generator.ag_frame is not None for generator in begun)

    with asyncio.Runner() as runner:
        was_over, still_open = runner.run(scenario())
    return was_over, complaints, still_open


def leave_at_every_step(work: Work, *, times: int) -> int:
    """Leave `work` after each number of steps until it ends by itself; how many steps there were."""
    was_over, after = False, 0
    while not was_over:
        was_over, complaints, still_open = left(work, after=after, times=times)
        assert (after, complaints, still_open) == (after, [], 0)
        after += 1
    return after


@pytest.fixture
def order() -> RunRequest:
    path = Path("/k/softmax.py")
    return RunRequest(problem=fakes.softmax_problem(), path=path, content=fakes.SOURCE, device="cpu", target="sm_90")


class Deaf:
    """An audience that heeds nothing."""

    def run_began(self, header: object) -> None: ...

    def on_events(self, events: Sequence[Event]) -> None: ...

    def trouble_arose(self, message: str) -> None:
        raise AssertionError(message)


def carried_out(request: RunRequest | RetargetRequest) -> Awaitable[object]:
    """A request as the queue runs it."""
    engine: Any = LayeredEngine()  # it compares nothing
    driver = RunDriver(engine, recording=None, on_trouble=Deaf().trouble_arose)
    return _carry_out(driver, Ticket(request=request, audience=Deaf(), slot=None, place=1))


@pytest.mark.parametrize("times", TIMES)
def test_a_run_on_the_screen(order: RunRequest, times: int) -> None:
    def work() -> Awaitable[object]:
        return carried_out(order)

    assert leave_at_every_step(work, times=times) > 50


@pytest.mark.parametrize("times", TIMES)
def test_builds_for_other_targets(order: RunRequest, times: int) -> None:
    port = RetargetRequest(
        candidate=order.candidate,
        entry="softmax",
        launches=(fakes.softmax_launch(),),
        targets=("sm_80", "gfx942"),
        number=None,
        after_s=0.9,
    )

    def work() -> Awaitable[object]:
        return carried_out(port)

    assert leave_at_every_step(work, times=times) > 10


@pytest.fixture
def console(tmp_path: Path) -> Console:
    home = {"KGTUI_HOME": str(tmp_path / "home")}
    return Console(out=io.StringIO(), err=io.StringIO(), stdin=io.StringIO(), environment=home, folder=tmp_path)


@pytest.mark.parametrize("times", TIMES)
def test_a_run_of_check(console: Console, times: int) -> None:
    options = parse(["check", "--sample", "--device", "cpu", "--cases", "smoke", "--no-store"]).options
    request = read_request(options, console)

    def work() -> Awaitable[object]:
        running = _Running(request, console, recording=None)
        return running.run(lambda **_: LayeredEngine(), None, lambda run: 0)  # type: ignore[arg-type,return-value]

    assert leave_at_every_step(work, times=times) > 20


@pytest.mark.parametrize("times", TIMES)
def test_a_run_of_tune(console: Console, times: int) -> None:
    typed = ["tune", str(SAMPLE), "--op", "aten::softmax", "--device", "cpu", "--cases", "smoke", "--no-store"]
    request = read_request(parse(typed).options, console)
    grid = (Variant(name="as it is", source=SAMPLE.read_bytes()),)

    def work() -> Awaitable[object]:
        engine: Any = LayeredEngine()  # it compares nothing
        return tune._try_all(request, grid, console, engine=engine, recording=None)

    assert leave_at_every_step(work, times=times) > 20
