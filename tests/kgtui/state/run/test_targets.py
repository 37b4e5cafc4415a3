"""What is known of other targets, from events to rows and sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import Artefact, CompiledKernel, Location, Outcome
from engine.model.events import (
    Event,
    KernelPorted,
    PortDisassembled,
    PortingFinished,
    PortingStarted,
)
from engine.reports.reducer import record_of, reduce_all
from engine.reports.run_record import NO_RUN
from engine.reports.targets import NOT_PORTED, Ports
from kgtui.state.format.glyphs import UNICODE
from kgtui.state.format.lines import plain_text
from kgtui.state.run.targets import ports_line, target_detail, target_rows
from tests.kgtui import fakes

STARTED = PortingStarted(at_s=1.0, targets=("sm_80", "gfx942"), launches=2)
DONE = PortingFinished(at_s=2.0, outcome=Outcome.PASS)
SASS = Artefact(kind="sass", digest="c" * 64, bytes=1)


@pytest.fixture
def kernel() -> CompiledKernel:
    built: CompiledKernel = fakes.compiled()
    return built


def broken(kernel: CompiledKernel, message: str = "no\n[such] thing") -> CompiledKernel:
    return replace(
        kernel,
        outcome=Outcome.COMPILE_ERROR,
        message=message,
        location=Location(line=9),
        registers=None,
        spill_bytes=None,
        shared_bytes=None,
        artefacts=(),
    )


def builds(*kernels: CompiledKernel) -> list[Event]:
    return [
        KernelPorted(at_s=1.5, number=number, total=4, kernel=kernel) for number, kernel in enumerate(kernels, start=1)
    ]


def all_four(first: CompiledKernel, second: CompiledKernel) -> Ports:
    targets = [replace(kernel, target=target) for target in STARTED.targets for kernel in (first, second)]
    return record_of([STARTED, *builds(*targets), DONE]).ports


def cells(ports: Ports) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in target_rows(ports, glyphs=UNICODE, own="sm_90")]


def words(ports: Ports) -> str:
    return plain_text((ports_line(ports, glyphs=UNICODE),))


def test_single_events_give_same_view_as_batch(kernel: CompiledKernel) -> None:
    events = [STARTED, *builds(kernel), PortDisassembled(at_s=1.7, number=1, artefact=SASS), DONE]
    known = NO_RUN
    for event in events:
        known = reduce_all(known, (event,))
    assert known == record_of(events)


def test_machine_code_is_added_to_its_kernel(kernel: CompiledKernel) -> None:
    events = [STARTED, *builds(kernel, kernel), PortDisassembled(at_s=1.7, number=2, artefact=SASS)]
    first, second = record_of(events).ports.kernels
    assert (first, second) == (kernel, replace(kernel, artefacts=(*kernel.artefacts, SASS)))


def test_restart_clears_earlier_targets(kernel: CompiledKernel) -> None:
    assert record_of([STARTED, *builds(kernel), DONE, STARTED]).ports == record_of([STARTED]).ports


def test_a_target_is_described_by_its_worst_kernel(kernel: CompiledKernel) -> None:
    ports = all_four(kernel, replace(kernel, registers=128, spill_bytes=64, shared_bytes=8192))
    assert cells(ports) == [
        ["sm_80", "✔ 2/2 ok", "128", "64 B", "8 KiB", "25%", ""],
        ["gfx942", "✔ 2/2 ok", "128", "64 B", "8 KiB", "–", ""],
    ]
    assert words(ports) == "builds for every target of the list  2 specialisations, 2 targets"


def test_failing_target_shows_its_first_error(kernel: CompiledKernel) -> None:
    ports = all_four(kernel, broken(kernel))
    assert cells(ports)[0] == [
        "sm_80",
        "✗ 1/2 compile error",
        "40",
        "0 B",
        "16 B",
        "75%",
        "softmax_kernel: no [such] thing",
    ]
    assert words(ports) == "does not build for sm_80, gfx942  2 specialisations, 2 targets"


def test_unchecked_targets_follow_failing_ones(kernel: CompiledKernel) -> None:
    unchecked = replace(broken(kernel, "not recorded"), outcome=Outcome.UNSUPPORTED)
    assert all_four(unchecked, broken(kernel)).of("sm_80").outcome is Outcome.COMPILE_ERROR


@pytest.mark.parametrize(
    ("finished", "expected"),
    [
        (None, "⟳ compiling 1/4  2 specialisations, 2 targets; esc stops"),
        (
            PortingFinished(at_s=2.0, outcome=Outcome.CANCELLED, message="cancelled [early]"),
            "stopped after 1/4: cancelled [early]  r restarts",
        ),
    ],
)
def test_incomplete_target_states_its_progress(
    kernel: CompiledKernel, finished: PortingFinished | None, expected: str
) -> None:
    events = [STARTED, *builds(replace(kernel, target="sm_80")), *([finished] if finished else [])]
    assert words(record_of(events).ports) == expected
    assert cells(record_of(events).ports)[0][1] == "· 1/2"
    assert record_of(events).ports.of("sm_80").outcome is None


def test_targets_before_start_state_next_step() -> None:
    failed = PortingFinished(at_s=2.0, outcome=Outcome.ENGINE_ERROR, message="no compiler got ready")
    assert words(NOT_PORTED).startswith("r compiles the launches of this run")
    assert words(record_of([failed]).ports) == "no compiler got ready"


def test_detail_lists_each_error_once_with_count(kernel: CompiledKernel) -> None:
    ports = all_four(broken(kernel), broken(kernel))
    assert plain_text(target_detail(ports.of("sm_80"))) == (
        "sm_80  softmax_kernel line 9: no [such] thing  (2 launches)"
    )
    assert target_detail(None) == ()


def test_target_not_started_offers_no_code() -> None:
    assert plain_text(target_detail(record_of([STARTED]).ports.of("sm_80"))) == "sm_80  nothing was compiled yet"
