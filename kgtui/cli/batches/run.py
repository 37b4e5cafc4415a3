"""A batch for a command: store, engines and queues around `kgtui.batches`, printed as results arrive."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator, Sequence

from engine.artefacts import ArtefactStore
from engine.devices import platform_named
from engine.model import Outcome
from kgtui.batches import documents
from kgtui.batches.lines import ending_text, result_line
from kgtui.batches.results import BatchProgress, CandidateResult
from kgtui.batches.running import BatchServices, Checked, carry_out
from kgtui.cli.batches.engines import BatchEngine
from kgtui.cli.batches.order import BatchCommand, read_batch
from kgtui.cli.batches.progress_line import ProgressLine
from kgtui.cli.console import Console, Exit
from kgtui.cli.runs.artefact_folder import artefact_folder
from kgtui.cli.runs.run_command import EngineFactory, StartedEngine, real_engine
from kgtui.cli.runs.run_recorder import open_recording
from kgtui.cli.runs.signals import SIGNAL_BASE, handle_signals
from kgtui.files import disk
from kgtui.history.recorder import StoreRecording
from kgtui.runner.run_environment import environment_of
from kgtui.settings.paths import find_paths
from sessions import open_memory_store

LABEL = "check"


def check_batch(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None) -> int:
    """Run the requested batch and print its results, its summary and its documents.

    Raises:
        KgtuiError: it cannot begin; the message says why.
    """
    command = read_batch(options, console)
    for complaint in command.complaints:
        console.warn(complaint)
    printing = _Printing(console, is_json=options.json, is_aside=options.json or options.markdown)
    paths = find_paths(console.environment)
    with (
        _recording_of(command, console) as recording,
        artefact_folder(paths, is_kept=command.is_kept, warn=console.warn) as artefacts,
    ):
        running = _Running(command, console, recording=recording, artefacts=artefacts, printing=printing)
        checked = asyncio.run(running.run(engine_factory or real_engine))
    if checked is None:
        return SIGNAL_BASE + (running.signal or signal.SIGINT)
    _print_documents(command, console, checked, options, printing)
    return _exit_of(checked.results)


def _print_documents(
    command: BatchCommand, console: Console, checked: Checked, options: argparse.Namespace, printing: _Printing
) -> None:
    """Print the summary in the requested format, and write every requested file."""
    title = f"Batch {checked.batch}: {command.order.request.candidates}"
    if options.json:
        console.write_document(documents.summary_line(checked.results))
    elif options.markdown:
        console.write_document(documents.as_markdown(checked.results, title=title))
    else:
        console.say(f"\n{documents.as_text(checked.results)}\n")
    for output in command.outputs:
        disk.write(output, documents.WRITERS[output.suffix](checked.results, title=title).encode() + b"\n")
        printing.say(f"wrote {output}")
    printing.say(ending_text(checked.batch, checked.results))


def _exit_of(results: Sequence[CandidateResult]) -> Exit:
    """Exit code of the worst result: not run, failed or flagged."""
    words = {result.word for result in results}
    if any(not result.row.is_done for result in results):
        return Exit.ENGINE
    if words - {"passed", "flagged", "not run", str(Outcome.UNSUPPORTED)}:
        return Exit.FAILED
    return Exit.FLAGGED if "flagged" in words else Exit.PASSED if "passed" in words else Exit.FAILED


@contextlib.contextmanager
def _recording_of(command: BatchCommand, console: Console) -> Iterator[StoreRecording]:
    """The user's store; one in memory if nothing is to be saved or it cannot be opened."""
    environment = environment_of(command.device)
    memory = StoreRecording(open_memory_store(), label=LABEL, environment=environment)
    if not command.is_kept:
        yield memory
        return
    paths = find_paths(console.environment)
    with open_recording(paths, label=LABEL, environment=environment, warn=console.warn) as recording:
        yield recording or memory


class _Printing:
    """Prints results as they arrive, above the bar."""

    def __init__(self, console: Console, *, is_json: bool, is_aside: bool) -> None:
        self._console = console
        self._is_json = is_json
        self._print = console.warn if is_aside else console.say
        self._line = ProgressLine(console)
        self._is_first = True
        self._number = 0  # of the last result that was printed or already stored

    def on_progress(
        self, progress: BatchProgress, changed: tuple[CandidateResult, ...], results: Sequence[CandidateResult]
    ) -> None:
        """Print each new result, and draw the bar again."""
        self._line.erase()
        if self._is_first:
            self._begin(progress, results)
        for result in changed:
            if result.row.is_done and self._is_json:
                self._console.write_document(documents.json_line(result))
            self._print_result(result, progress)
        if not progress.has_ended and progress.running:
            self._line.draw(progress, now_s=time.monotonic())

    def say(self, text: str) -> None:
        """Print a line above the progress line."""
        self._line.erase()
        self._print(text)

    def _begin(self, progress: BatchProgress, results: Sequence[CandidateResult]) -> None:
        self._is_first = False
        done = [result for result in results if result.row.is_done]
        for result in done:
            if self._is_json:
                self._console.write_document(documents.json_line(result))
            elif result.row.candidate.refusal:
                self._print_result(result, progress)
        self._number = len(done)
        if kept := sum(result.run is not None for result in done):
            self._print(f"batch {progress.batch}: {kept} of {progress.total} results are already stored")

    def _print_result(self, result: CandidateResult, progress: BatchProgress) -> None:
        self._number += 1
        self._print(result_line(result, number=self._number, total=progress.total))


class _Running:
    """One batch from its first candidate to its end; a signal ends it; finished results are stored."""

    def __init__(
        self,
        command: BatchCommand,
        console: Console,
        *,
        recording: StoreRecording,
        artefacts: ArtefactStore,
        printing: _Printing,
    ) -> None:
        self.signal: int | None = None
        self._command = command
        self._console = console
        self._recording = recording
        self._artefacts = artefacts
        self._printing = printing
        self._results: dict[int, CandidateResult] = {}
        self._batch: int | None = None

    async def run(self, engine_factory: EngineFactory) -> Checked | None:
        """Carry it out; None if a signal ended it."""
        task = asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            self.signal = number
            task.cancel()

        handle_signals(stop)
        try:
            async with contextlib.AsyncExitStack() as stack:
                engines = [await stack.enter_async_context(self._engine(engine_factory)) for _ in range(self._jobs())]
                return await carry_out(self._command.order, self._services(engines))
        except asyncio.CancelledError:
            if self.signal is None:
                raise
            if self._batch is not None:
                self._printing.say(ending_text(self._batch, tuple(self._results.values())))
            return None

    def _services(self, engines: Sequence[BatchEngine]) -> BatchServices:
        command = self._command
        return BatchServices(
            recording=self._recording,
            verifiers=engines,
            problem=command.index.find,
            operators=command.operators,
            on_progress=self._report_progress,
            trouble=self._printing.say,
            clock=time.monotonic,
        )

    def _jobs(self) -> int:
        """Number of candidates that run at once: one if times are measured, to avoid disturbance."""
        request, jobs = self._command.order.request, self._command.jobs
        if jobs > 1 and request.timed and not platform_named(request.device).EXECUTED_ON_CPU:
            words = f"candidates are timed, so they run one at a time; --no-timing verifies {jobs} at once"
            self._console.warn(words)
            return 1
        return min(jobs, max(1, len(self._command.order.candidates)))

    def _engine(self, engine_factory: EngineFactory) -> BatchEngine:
        request = self._command.order.request

        def make() -> StartedEngine:
            return engine_factory(
                device=request.device,
                artefacts=self._artefacts,
                environment=self._console.environment,
                warm_target=request.target,
                times=request.timed,
            )

        return BatchEngine(make, request, recording=self._recording, trouble=self._printing.say)

    def _report_progress(
        self, progress: BatchProgress, changed: tuple[CandidateResult, ...], results: Sequence[CandidateResult]
    ) -> None:
        self._batch = progress.batch
        self._results = {result.row.place: result for result in results}
        self._printing.on_progress(progress, changed, results)
