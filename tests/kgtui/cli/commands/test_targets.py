"""`kgtui targets`: what is compiled for which target, what is printed, and the exit code for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.model import Artefact, CompiledKernel, Launch, Location, Outcome
from engine.model.events import (
    Event,
    KernelLaunched,
    KernelPorted,
    PortDisassembled,
    PortingFinished,
    PortingStarted,
)
from engine.run.retarget import PORTABILITY_TARGETS
from tests.kgtui.cli.documents import require_valid

if TYPE_CHECKING:
    from tests.kgtui.cli.conftest import PreparedEngine, Typed

LAUNCH = Launch(
    kernel="silu_kernel", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)
SASS = Artefact(kind="sass", digest="c" * 64, bytes=10)


def ported(**outcomes: Outcome) -> list[Event]:
    """One launch for each of these targets, and machine code of the first."""
    events: list[Event] = [PortingStarted(at_s=0.5, targets=tuple(outcomes), launches=1)]
    for number, (target, outcome) in enumerate(outcomes.items(), start=1):
        good = outcome is Outcome.PASS
        kernel = CompiledKernel(
            launch=LAUNCH,
            target=target,
            outcome=outcome,
            elapsed_s=0.1,
            message="" if good else "no\nsuch [thing]",
            location=None if good else Location(line=7),
            registers=40 if good else None,
            spill_bytes=8 if good else None,
            shared_bytes=1024 if good else None,
        )
        events.append(KernelPorted(at_s=0.6, number=number, total=len(outcomes), kernel=kernel))
    machine_code = PortDisassembled(at_s=0.7, number=1, artefact=SASS)
    return [*events, machine_code, PortingFinished(at_s=0.8, outcome=Outcome.PASS)]


@pytest.fixture
def launching(engine: PreparedEngine) -> PreparedEngine:
    """An engine whose candidate launches one kernel."""
    engine.extra = (KernelLaunched(at_s=0.1, launch=LAUNCH),)
    engine.ported = ported(sm_80=Outcome.PASS, gfx942=Outcome.PASS)
    return engine


def last_lines(out: str) -> Sequence[str]:
    return out.rpartition("\n\n")[2].splitlines()


def test_every_target_of_list_is_compiled(targeted: Typed, launching: PreparedEngine, kernel: Path) -> None:
    targeted(kernel)
    assert launching.asked_for == [PORTABILITY_TARGETS]


def test_typed_targets_are_compiled_once(targeted: Typed, launching: PreparedEngine, kernel: Path) -> None:
    targeted(kernel, "--to", "gfx942", "sm_80", "gfx942")
    assert launching.asked_for == [("gfx942", "sm_80")]


def test_a_table_follows_the_verdict(targeted: Typed, launching: PreparedEngine, kernel: Path) -> None:
    ended = targeted(kernel)
    assert ended.exit_code == 0
    assert last_lines(ended.out) == [
        "target  builds  registers  spilled B  shared B  occupancy",
        "sm_80      1/1         40          8     1,024        75%",
        "gfx942     1/1         40          8     1,024          -",
    ]


def test_the_first_error_of_a_target_is_reported(targeted: Typed, launching: PreparedEngine, kernel: Path) -> None:
    launching.ported = ported(sm_80=Outcome.PASS, gfx942=Outcome.COMPILE_ERROR)
    ended = targeted(kernel)
    assert ended.exit_code == 1
    assert last_lines(ended.out)[-1] == "gfx942: compile_error: silu_kernel, line 7: no such [thing]"


@pytest.mark.parametrize(
    ("outcomes", "exit_code"),
    [
        ({"sm_80": Outcome.PASS, "sm_90": Outcome.PASS}, 0),
        ({"sm_80": Outcome.UNSUPPORTED, "sm_90": Outcome.PASS}, 3),
        ({"sm_80": Outcome.UNSUPPORTED, "sm_90": Outcome.COMPILE_ERROR}, 1),
    ],
)
def test_exit_code_is_that_of_worst_target(
    targeted: Typed, launching: PreparedEngine, kernel: Path, outcomes: dict[str, Outcome], exit_code: int
) -> None:
    launching.ported = ported(**outcomes)
    assert targeted(kernel).exit_code == exit_code


def test_wrong_candidate_that_builds_fails(targeted: Typed, launching: PreparedEngine, kernel: Path) -> None:
    launching.outcome = Outcome.WRONG_VALUE
    ended = targeted(kernel)
    assert ended.exit_code == 1
    assert "gfx942     1/1" in ended.out


def test_targets_without_launches_exits_with_3(targeted: Typed, engine: PreparedEngine, kernel: Path) -> None:
    ended = targeted(kernel)
    assert (ended.exit_code, engine.asked_for) == (3, [])
    assert "nothing to compile for other targets" in ended.err


def test_interrupted_command_fails(targeted: Typed, launching: PreparedEngine, kernel: Path) -> None:
    cut = PortingFinished(at_s=0.8, outcome=Outcome.ENGINE_ERROR, message="no compiler got ready")
    launching.ported = [*ported(sm_80=Outcome.PASS, sm_90=Outcome.PASS)[:2], cut]
    ended = targeted(kernel)
    assert ended.exit_code == 3
    assert "no compiler got ready" in ended.err


def test_the_document_holds_every_kernel_with_its_code(
    targeted: Typed, launching: PreparedEngine, kernel: Path
) -> None:
    document = require_valid(targeted(kernel, "--json").out)
    assert [(one["target"], one["outcome"], one["built"], one["registers"]) for one in document["targets"]] == [
        ("sm_80", "pass", 1, 40),
        ("gfx942", "pass", 1, 40),
    ]
    assert [artefact["kind"] for artefact in document["targets"][0]["kernels"][0]["artefacts"]] == ["sass"]


def test_an_unknown_target_is_refused_before_anything_runs(typed: Typed, kernel: Path) -> None:
    ended = typed("targets", kernel, "--to", "sm_9o")
    assert ended.exit_code == 2
    assert "did you mean sm_90?" in ended.err
