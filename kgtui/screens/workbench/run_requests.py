"""The part of the workbench that asks for runs: which cases, for which target, timed or not."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from kgtui.ports.protocols import Order
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.state.bench.benchmarks import bench_cases
from kgtui.state.bench.static_cost import INTERPRETED
from kgtui.state.workbench.status import is_stale
from kgtui.state.workbench.workbench import Wish, Workbench


class JudgingScreen(KgtuiScreen):
    """Holds the record of the file on it; whoever derives from it draws the record."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self.bench = bench

    @abstractmethod
    def action_tab(self, name: str) -> None:
        """Show a tab."""

    @property
    @abstractmethod
    def case_under_cursor(self) -> str | None:
        """The case to judge alone."""

    def judge(self, *, again: bool = False, cases: tuple[str, ...] = (), wish: Wish = Wish.AS_SAVED) -> None:
        """Ask for a run of what the file holds."""
        self.submit(self.bench.order(again=again, cases=cases, wish=wish))

    def submit(self, order: Order) -> None:
        """Ask for a run, also of another text than the file holds."""
        self.bench = self.bench.ordered(self.host.clock())
        self.host.submit(order)
        self.draw()

    def action_run_again(self) -> None:
        """Judge the saved file again."""
        self.judge(again=True)

    def action_benchmark(self) -> None:
        """Verify, then time the bench cases; where that is not possible, show why."""
        self.action_tab("bench")
        if not self.bench.can_time:
            self.notify(INTERPRETED, markup=False)
        elif not bench_cases(self.bench.problem):
            self.notify(f"{self.bench.problem.name} has no bench cases, so there is nothing to time", markup=False)
        else:
            self.judge(again=True, wish=Wish.BENCHMARK)

    def action_verify(self) -> None:
        """Judge all cases and time nothing."""
        self.judge(again=True, wish=Wish.VERIFY)

    def action_smoke(self) -> None:
        """Judge the smoke cases alone from now on, or all cases again."""
        self.bench = replace(self.bench, smoke=not self.bench.is_smoke)
        cases = "the smoke cases alone, and nothing is timed" if self.bench.is_smoke else "all cases"
        self.app.clear_notifications()  # one for each press would pile up over the results
        self.notify(f"a save judges {cases} from now on", markup=False)
        self.judge()

    def action_run_failed(self) -> None:
        """Judge only what failed."""
        failed = tuple(result.case for result in self.bench.results.failed)
        if self._is_of_another_operator():
            return
        if failed:
            self.judge(again=True, cases=failed)
        else:
            self.notify("no case failed in this run; r runs all of them", markup=False)

    def action_run_alone(self) -> None:
        """Judge only the case under the cursor."""
        name = self.case_under_cursor
        if name and not self._is_of_another_operator():
            self.judge(again=True, cases=(name,))

    def _is_of_another_operator(self) -> bool:
        """Whether the shown cases are none of the open file's; that is said then."""
        bench = self.bench
        is_other = bench.shown_problem.name != bench.problem.name
        if is_other:
            words = f"this is a past run of {bench.shown_problem.name}; esc returns to {bench.path.name}"
            self.notify(words, markup=False)
        return is_other

    def action_pause(self) -> None:
        """Stop judging on save; going on judges what the file holds by then."""
        self.bench = replace(self.bench, paused=not self.bench.paused)
        stale = is_stale(self.bench.view, self.bench.desk(self.host.clock()))
        if not self.bench.paused and stale and not self.bench.unsaved:
            self.judge()
        else:
            self.draw()

    def action_next_target(self) -> None:
        """Compile for another target and judge again."""
        self.bench = self.bench.next_target()
        self.app.clear_notifications()  # one for each press would pile up over the results
        self.notify(f"compiling for {self.bench.target} from now on", markup=False)
        self.judge()
