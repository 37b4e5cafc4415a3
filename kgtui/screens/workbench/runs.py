"""Runs of the open file: requests, and the events of the newest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.devices.hardware.targets import asked_target
from engine.errors import UsageError
from engine.model.events import Event, RunFinished
from kgtui.ports.requests import RunHeader, RunRequest
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.settings.preferences import NO_TARGET
from kgtui.state.bench.benchmarks import bench_cases
from kgtui.state.bench.static_cost import EXECUTED_ON_CPU
from kgtui.state.workbench.blame import blamed_line
from kgtui.state.workbench.other_file import other_file_sentence
from kgtui.state.workbench.status import Mode, is_stale, status_of
from kgtui.state.workbench.workbench import Named, RunPurpose, of_operator
from kgtui.widgets.panes.cases import CasesPane


class RunController:
    """Requests runs of the open file, and receives their events."""

    def __init__(self, context: WorkbenchContext, *, tabs: TabSwitcher, history: PastRunViewer) -> None:
        self._context = context
        self._tabs = tabs
        self._history = history

    @property
    def busy(self) -> bool:
        """Whether a run is in progress, so that its elapsed time changes."""
        return status_of(self._context.bench.view, self._context.strip_context).busy

    @property
    def cases(self) -> CasesPane:
        """The pane with the cases."""
        return self._context.screen.query_one(CasesPane)

    # What the application reports

    def run_began(self, header: RunHeader) -> None:
        """Show that a run begins; earlier results stay, dimmed, until its results arrive."""
        context = self._context
        context.bench = context.bench.run_began(
            number=header.number, cached=header.cached, digest=header.digest, picked=header.picked
        )

    def on_events(self, events: Sequence[Event]) -> None:
        """Show new events of the newest run."""
        context = self._context
        context.bench = context.bench.with_events(events)
        if not context.screen.is_drawable:
            return
        context.draw()
        if any(isinstance(event, RunFinished) for event in events):
            self.show_error_line()
            self._history.read()

    def show_error_line(self) -> None:
        """Scroll to the line of the error, unless the user edits or views a past run."""
        bench = self._context.bench
        line = blamed_line(bench)
        if line is not None and bench.mode is Mode.WATCH and bench.old is None and not bench.unsaved:
            self._context.source.go_to(line)

    def renumbered(self, numbers: Mapping[int, int]) -> None:
        """Update run numbers after the store has moved, and remove marks, which would refer to other runs."""
        if numbers:
            self._context.bench = self._context.bench.renumbered(numbers)
            self._context.host.run_history.marked = ()

    # Requesting runs

    def request(
        self, *, again: bool = False, cases: tuple[str, ...] = (), purpose: RunPurpose = RunPurpose.AS_SAVED
    ) -> None:
        """Request a run of the file's content; none while the file names an unknown operator."""
        if misnamed := self._context.bench.misnamed:
            if again:
                self._context.notify(misnamed, severity="warning")
            self._context.draw()
            return
        bench = self._context.bench
        if bench.old is not None and bench.old.number is not None and not bench.old.candidate:
            self._context.notify(f"run #{bench.old.number} is closed: {bench.path.name} is run")
        self.submit(bench.order(again=again, cases=cases, purpose=purpose))

    def submit(self, request: RunRequest) -> None:
        """Request a run, also of another text than the file's; a shown past run is closed first."""
        context = self._context
        if context.bench.old is not None:
            self._history.leave()
        context.bench = context.bench.ordered(context.host.clock())
        context.host.runs.submit(request)
        context.draw()

    def request_saved(self, *, named_before: Named, again: bool = False) -> None:
        """Request a run of new content unless paused; an operator or target that its first line now names is used."""
        named = self._context.bench.named
        if named.operator != named_before.operator:
            self._follow_operator(named.operator)
        if named.target not in ("", named_before.target):
            self._follow_target(named.target)
        if self._context.bench.paused:
            self._context.draw()
        else:
            self.request(again=again)

    def _follow_operator(self, name: str) -> None:
        """Switch to the operator that the file names now; for an unknown one nothing is run until that is corrected."""
        context = self._context
        context.bench = replace(context.bench, misnamed="")
        if name in ("", context.bench.problem.name):
            return
        problem = context.host.problem_named(name)
        if problem is None:
            words = f"the file names {name!r}, which is no operator: correct `# kgtui: op=...` and save; nothing is run"
            context.bench = replace(context.bench, misnamed=words)
        elif problem.name != context.bench.problem.name:
            context.host.runs.cancel()
            context.bench = of_operator(context.bench, problem)
            context.host.run_history.marked = ()
            self._history.forget()
            self._history.read()
            context.screen.host_changed()
            context.notify(f"{context.bench.path.name} names another operator now: {problem.name}")

    def _follow_target(self, name: str) -> None:
        """Compile for the target that the file names now; an unknown one is reported and changes nothing."""
        context = self._context
        try:
            target = None if name == NO_TARGET else asked_target(name).name
        except UsageError as error:
            context.notify(f"{context.bench.path.name}, its `# kgtui:` line: {error}", severity="warning")
            return
        if target != context.bench.target:
            context.bench = replace(context.bench, target=target)
            context.notify(f"{context.bench.path.name} names another target now: {name}")

    def cancel(self) -> None:
        """Stop the run in progress."""
        context = self._context
        if context.host.runs.cancel():
            context.bench = context.bench.not_begun()
            context.draw()

    def action_run_again(self) -> None:
        """Run the saved file again."""
        self.request(again=True)

    def action_benchmark(self) -> None:
        """Verify, then time the bench cases; if that is not possible, show why."""
        self._tabs.show("bench")
        if not self._context.bench.can_time:
            self._context.notify(EXECUTED_ON_CPU)
        elif not bench_cases(self._context.bench.problem):
            self._context.notify(f"{self._context.bench.problem.name} has no bench cases, so there is nothing to time")
        else:
            self.request(again=True, purpose=RunPurpose.BENCHMARK)

    def action_verify(self) -> None:
        """Verify all cases and time nothing."""
        self.request(again=True, purpose=RunPurpose.VERIFY)

    def action_smoke(self) -> None:
        """Run only the smoke cases from now on, or all cases again."""
        self._context.bench = replace(self._context.bench, smoke=not self._context.bench.is_smoke)
        cases = "only the smoke cases, without timing" if self._context.bench.is_smoke else "all cases"
        self._context.screen.app.clear_notifications()  # otherwise a message for each press would cover the results
        self._context.notify(f"a save runs {cases} from now on")
        self.request()

    def action_run_failed(self) -> None:
        """Run only the failed cases."""
        failed = tuple(result.case for result in self._context.bench.results.failed)
        if self._is_of_other_file():
            return
        if failed:
            self.request(again=True, cases=failed)
        else:
            self._context.notify("no case failed in this run; r runs all of them")

    def action_run_alone(self) -> None:
        """Run only the case under the cursor."""
        name = self.cases.current_name
        if name and not self._is_of_other_file():
            self.request(again=True, cases=(name,))

    def _is_of_other_file(self) -> bool:
        """Whether the shown cases are of another file than the open one, with a message if so."""
        bench, kernels = self._context.bench, self._context.host.kernels
        if bench.is_of_other_file:
            path = bench.shown.path
            self._context.notify(other_file_sentence(bench, shown=kernels.shown(path) if path is not None else ""))
        return bench.is_of_other_file

    def action_pause(self) -> None:
        """Pause runs of saves, or resume them with the current file."""
        self._context.bench = replace(self._context.bench, paused=not self._context.bench.paused)
        has_run = self._context.bench.live.begun or self._context.bench.waiting
        is_due = not has_run or is_stale(self._context.bench.view, self._context.strip_context)
        if not self._context.bench.paused and is_due and not self._context.bench.unsaved:
            self.request()
        else:
            self._context.draw()

    def action_next_target(self) -> None:
        """Compile for another target and run again."""
        self._context.bench = self._context.bench.next_target()
        self._context.screen.app.clear_notifications()  # otherwise a message for each press would cover the results
        self._context.notify(f"compiling for {self._context.bench.target} from now on")
        self.request()
