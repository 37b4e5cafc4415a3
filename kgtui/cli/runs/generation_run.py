"""A batch for a command: store, engine and queue around `kgtui.generation`, printed as results arrive."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable

from kgtui.cli.console import Console
from kgtui.cli.runs.artefact_folder import artefact_folder
from kgtui.cli.runs.run_command import EngineFactory, StartedEngine, real_engine
from kgtui.cli.runs.run_recorder import open_recording
from kgtui.cli.runs.signals import SIGNAL_BASE, handle_signals
from kgtui.generation.carrying_out import Generated, GenerationOrder, GenerationServices, carry_out
from kgtui.generation.events import GenerationEvent
from kgtui.generation.lines import event_line, resumable_text
from kgtui.generation.prices import PriceList, read_prices
from kgtui.generation.progress import NO_BATCH, GenerationProgress
from kgtui.generation.prompts import Prompts
from kgtui.generation.verifying import queued
from kgtui.history.recorder import StoreRecording
from kgtui.runner.driver import RunDriver
from kgtui.runner.run_environment import environment_of
from kgtui.runner.run_queue import RunQueue
from kgtui.settings.paths import Paths, find_paths

LABEL = "generate"
_NEEDS_STORE = "answers that cost money must be stored, so nothing is generated"


def generate(
    order: GenerationOrder,
    console: Console,
    *,
    close: Callable[[StoreRecording, Generated], int],
    engine_factory: EngineFactory | None = None,
    prices: PriceList | None = None,
    label: str = LABEL,
    is_aside: bool = False,
) -> int:
    """Carry out the batch; returns the exit code of `close`, unless a signal ended it.

    `is_aside` prints progress on the error stream, if the output is a document.

    Raises:
        KgtuiError: it cannot begin: no key, no store, nothing to resume.
    """
    paths = find_paths(console.environment)
    environment = environment_of(order.device)
    with (
        open_recording(
            paths, label=label, environment=environment, warn=console.warn, refusal=_NEEDS_STORE
        ) as recording,
        artefact_folder(paths, is_kept=True, warn=console.warn) as artefacts,
    ):
        assert recording is not None, "with a refusal there is a store or an error"
        engine = (engine_factory or real_engine)(
            device=order.device.platform,
            artefacts=artefacts,
            environment=console.environment,
            warm_target=order.request.target,
        )
        running = _Running(order, console, recording=recording, is_aside=is_aside)
        generated = asyncio.run(running.run(engine, prices=prices or user_prices(paths), prompts=user_prompts(paths)))
        if generated is None:
            return SIGNAL_BASE + (running.signal or signal.SIGINT)
        return close(recording, generated)


def user_prices(paths: Paths) -> PriceList:
    """The prices of `prices.toml` beside the settings file, and the maintained ones."""
    return read_prices(paths.prices)


def user_prompts(paths: Paths) -> Prompts:
    """The templates; those of the folder `prompts` beside the settings file take precedence."""
    return Prompts(paths.prompts)


class _Running:
    """One batch from its first request to its end; a signal ends it, and answers in flight are stored."""

    def __init__(self, order: GenerationOrder, console: Console, *, recording: StoreRecording, is_aside: bool) -> None:
        self.signal: int | None = None
        self._order = order
        self._console = console
        self._recording = recording
        self._say = console.warn if is_aside else console.say
        self._progress = NO_BATCH

    async def run(self, engine: StartedEngine, *, prices: PriceList, prompts: Prompts) -> Generated | None:
        """Carry it out; None if a signal ended it."""
        self._handle_signals()
        queue = RunQueue(on_trouble=self._console.warn)
        services = GenerationServices(
            recording=self._recording,
            submit=queued(queue),
            drop=queue.drop,
            prices=prices,
            prompts=prompts,
            environment=self._console.environment,
            trouble=self._console.warn,
            on_generation_event=self._on_generation_event,
        )
        try:
            async with engine:
                driver = RunDriver(engine, recording=self._recording, on_trouble=self._console.warn)
                serving = asyncio.create_task(queue.serve(driver))
                try:
                    return await carry_out(self._order, services)
                finally:
                    serving.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await serving
        except asyncio.CancelledError:
            if self.signal is None:
                raise
            if self._progress.ended is None:  # cancelled before its first request
                self._say(resumable_text(self._progress))
            return None

    def _on_generation_event(self, event: GenerationEvent, progress: GenerationProgress) -> None:
        self._progress = progress
        if text := event_line(event, progress, now_s=time.monotonic()):
            self._say(text)

    def _handle_signals(self) -> None:
        task = asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            self.signal = number
            task.cancel()

        handle_signals(stop)
