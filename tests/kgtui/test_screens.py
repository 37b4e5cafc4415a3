"""Pictures of the screens in each state and size; look at a changed one before accepting it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from textual.pilot import Pilot

from kgtui.state.run import NO_RUN

NARROW, MEDIUM, WIDE = (80, 24), (120, 36), (200, 60)


@pytest.fixture
def looks_as_before(make_bench: Any, snap_compare: Any) -> Callable[..., bool]:
    """Compares a picture of the application with the one that was accepted."""

    def compare(
        script: Any = None, *, size: tuple[int, int], keys: tuple[str, ...] = (),
        until: Callable[[Any], bool] | None = None, then: Any = None, **settings: Any,
    ) -> bool:  # fmt: skip
        bench = make_bench(script, **settings)

        async def drive(pilot: Pilot[None]) -> None:
            if until is None or then is not None:
                await bench.until(pilot, lambda: bench.app.problems != ())
                await bench.settled(pilot)
            if then is not None:
                bench.engine.script = then
                bench.watcher.save(bench.path.read_bytes() + b"# another\n")
            if until is not None:
                await bench.until(pilot, lambda: until(bench.app.screen.bench.view))
            await pilot.press(*keys)
            if until is None:
                await bench.settled(pilot)
            for editor in bench.app.screen.query("SourceEditor, Input"):
                editor.cursor_blink = False
            await pilot.pause()

        return bool(snap_compare(bench.app, terminal_size=size, run_before=drive))

    return compare


@pytest.mark.parametrize("size", [NARROW, MEDIUM, WIDE], ids=["narrow", "medium", "wide"])
def test_a_failed_run(looks_as_before: Any, fakes: ModuleType, size: tuple[int, int]) -> None:
    assert looks_as_before(fakes.some_fail, size=size)


def test_a_passed_run(looks_as_before: Any) -> None:
    assert looks_as_before(size=MEDIUM)


def test_a_run_that_goes_on(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.stops_half_way, size=MEDIUM, until=lambda view: len(view.cases) == 5)


def test_a_flagged_run(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.suspicious, size=MEDIUM, keys=("2",))


def test_before_anything_ran(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.never_begins, size=NARROW, until=lambda view: view == NO_RUN)


def test_unsaved_text_over_stale_results(looks_as_before: Any) -> None:
    assert looks_as_before(size=NARROW, keys=("e", "x"))


def test_the_code_of_a_kernel(looks_as_before: Any) -> None:
    assert looks_as_before(size=MEDIUM, keys=("4",))


def test_the_reason_in_ascii_at_the_least_size(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.some_fail, size=(60, 15), keys=("1", "enter"), ascii=True)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_the_operators(looks_as_before: Any, size: tuple[int, int]) -> None:
    assert looks_as_before(size=size, opened=False)


def test_the_help(looks_as_before: Any) -> None:
    assert looks_as_before(size=MEDIUM, keys=("f1",))


# Times and speed-ups


@pytest.fixture
def gpu(bench_fakes: ModuleType) -> dict[str, Any]:
    """The settings of a workbench on a GPU, with five bench cases."""
    return {"device": "cuda", "problem": bench_fakes.timed_problem()}


@pytest.mark.parametrize("size", [NARROW, MEDIUM, WIDE], ids=["narrow", "medium", "wide"])
def test_a_run_that_was_timed(
    looks_as_before: Any, bench_fakes: ModuleType, gpu: dict[str, Any], size: tuple[int, int]
) -> None:
    assert looks_as_before(bench_fakes.all_timed, size=size, keys=("3", "j"), **gpu)


def test_how_one_case_was_timed(looks_as_before: Any, bench_fakes: ModuleType, gpu: dict[str, Any]) -> None:
    assert looks_as_before(bench_fakes.two_baselines, size=NARROW, keys=("3", "enter", "z"), **gpu)


def test_a_run_that_is_timed_again_over_stale_results(
    looks_as_before: Any, bench_fakes: ModuleType, gpu: dict[str, Any]
) -> None:
    assert looks_as_before(bench_fakes.all_timed, then=bench_fakes.times_two_of_five, size=MEDIUM, keys=("3",),
                           until=lambda view: len(view.benchmarks) == 2, **gpu)  # fmt: skip


def test_a_run_that_waits_for_the_device(looks_as_before: Any, bench_fakes: ModuleType, gpu: dict[str, Any]) -> None:
    assert looks_as_before(bench_fakes.waits_for_the_device, size=NARROW, keys=("3",),
                           until=lambda view: view.holder is not None, **gpu)  # fmt: skip


def test_a_run_that_was_timed_and_is_flagged(
    looks_as_before: Any, bench_fakes: ModuleType, gpu: dict[str, Any]
) -> None:
    assert looks_as_before(bench_fakes.timed_and_flagged, size=MEDIUM, keys=("3",), **gpu)


@pytest.mark.parametrize("size", [NARROW, MEDIUM], ids=["narrow", "medium"])
def test_why_the_interpreter_is_not_timed(looks_as_before: Any, bench_fakes: ModuleType, size: tuple[int, int]) -> None:
    assert looks_as_before(size=size, keys=("3",), problem=bench_fakes.timed_problem())


@pytest.mark.parametrize("size", [NARROW, MEDIUM, WIDE], ids=["narrow", "medium", "wide"])
def test_the_bench_cases_over_their_sizes(
    looks_as_before: Any, bench_fakes: ModuleType, gpu: dict[str, Any], size: tuple[int, int]
) -> None:
    assert looks_as_before(bench_fakes.two_baselines, size=size, keys=("B", "j"), **gpu)


def test_the_bench_cases_in_their_order_in_ascii(
    looks_as_before: Any, bench_fakes: ModuleType, gpu: dict[str, Any]
) -> None:
    assert looks_as_before(bench_fakes.two_baselines, size=NARROW, keys=("B", "x", "m", "m"), ascii=True, **gpu)


# The inspection


@pytest.mark.parametrize("size", [NARROW, MEDIUM, WIDE], ids=["narrow", "medium", "wide"])
def test_the_inspection_of_a_flagged_run(looks_as_before: Any, fakes: ModuleType, size: tuple[int, int]) -> None:
    assert looks_as_before(fakes.suspicious, size=size, keys=("I",))


def test_the_inspection_at_a_finding_in_ascii(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.suspicious, size=NARROW, keys=("I", "n"), ascii=True)
