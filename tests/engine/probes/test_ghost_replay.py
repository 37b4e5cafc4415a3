"""What ghost replay makes of the judge's counts; the calls are scripted here."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from engine import protocol
from engine.model import (
    Case,
    CaseResult,
    Cost,
    DType,
    Finding,
    Launch,
    Outcome,
    OutputReport,
    Problem,
    ProblemDefinition,
    Severity,
    Tier,
    Tolerance,
)
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import ghost_replay
from engine.probes.lab.case_session import CallResult, Lab, PassedCase
from engine.verdict.native_symbols import NativeKernels

A, B = protocol.Kernel(name="a", line=3), protocol.Kernel(name="b", line=9)
Script = Callable[[str, tuple[protocol.Kernel, ...], int], CallResult]
"""From the case, the kernels that are withheld (none: all) and the poison to what comes of the call."""


def never(*_: object) -> object:
    raise AssertionError("the parent makes no tensors")


def case(name: str, *, elements: int = 1000, size: int = 1, launches: Sequence[protocol.Kernel] = ()) -> PassedCase:
    one = Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={"size": size})
    report = OutputReport(name="return", outcome=Outcome.PASS, total=elements)
    result = CaseResult(
        case=name, tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.1, calls=3, seed=1, outputs=(report,)
    )
    reported = tuple(
        Launch(
            kernel=kernel.name,
            line=kernel.line,
            signature={},
            constants={},
            divisible_by_16=(),
            num_warps=4,
            num_stages=3,
            grid=(1,),
        )
        for kernel in launches
    )
    return PassedCase(case=one, result=result, launches=reported)


def right(
    share: float, *met: protocol.Kernel, withheld: bool = True, trivial: int = 0, lost: bool = False
) -> CallResult:
    """A call of an output of 1000 elements; `met` are the kernels that it would have launched."""
    return CallResult(
        ledger=tuple(protocol.Withheld(kernel=kernel, launches=1, withheld=withheld) for kernel in met),
        outputs=(protocol.CorrectCount(name="return", total=1000, right=round(1000 * share), trivial=trivial),),
    )


@dataclass(kw_only=True)
class FakeLab:
    """Stands for a Lab; `called` are the calls that were made, `renewed` how many workers were given up."""

    passed: tuple[PassedCase, ...]
    script: Script
    called: list[tuple[str, tuple[protocol.Kernel, ...], int]] = field(default_factory=list)
    renewed: int = 0
    native: NativeKernels | None = None

    @property
    def problem(self) -> Problem:
        return ProblemDefinition(
            name="toy::f",
            entry="f",
            signature="f(x: Tensor) -> Tensor",
            summary="",
            category="toy",
            cases=tuple(one.case for one in self.passed),
            make_inputs=never,
            reference=never,
            eager=never,  # type: ignore[arg-type]  # never called
            tolerance=lambda _: Tolerance(relative=0.0, absolute=0.0),
            cost=lambda case: Cost(flops=case.size("size"), bytes_read=0, bytes_written=0),
        ).problem("toy_problems")

    async def renew(self) -> None:
        self.renewed += 1

    def size_of(self, case: Case) -> int:
        return case.size("size")

    @contextlib.asynccontextmanager
    async def at(self, case: Case) -> AsyncIterator[FakeSession]:
        yield FakeSession(lab=self, case=case)


@dataclass(frozen=True, kw_only=True)
class FakeSession:
    """Stands for one case laid out."""

    lab: FakeLab
    case: Case

    async def call(self, *, poison: int, withhold: protocol.Withhold) -> CallResult:
        self.lab.called.append((self.case.name, withhold.kernels, poison))
        return self.lab.script(self.case.name, withhold.kernels, poison)


async def reported(lab: FakeLab) -> tuple[list[Finding], LayerReport]:
    seen = [one async for one in ghost_replay.probe(cast(Lab, lab))]  # cast: the double at the seam
    (report,) = (one for one in seen if isinstance(one, LayerReport))
    return [one for one in seen if isinstance(one, Finding)], report


async def found(lab: FakeLab) -> list[Finding]:
    return (await reported(lab))[0]


async def facts(lab: FakeLab) -> list[tuple[str, str]]:
    """What the report says of a layer that was checked."""
    _, report = await reported(lab)
    assert (report.layer, report.coverage) == (Layer.ABLATION, Coverage.CHECKED)
    return [(fact.name, fact.value) for fact in report.facts]


async def messages(lab: FakeLab) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.message) for finding in await found(lab)]


async def test_one_kernel_is_withheld_once_with_each_poison() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(0, A))
    assert await facts(lab) == [
        ("a", "line 3: 0% of the output of c is correct without it"),
        ("suppressed", "2 of 2 launches"),
    ]
    assert lab.called == [("c", (), 0xFF), ("c", (), 0x7B)]


async def test_native_code_launching_without_triton_is_not_withheld() -> None:
    lab = FakeLab(passed=(case("one"),), script=lambda *_: right(0.0), native=NativeKernels())
    found, report = await reported(lab)
    assert (found, report.coverage) == ([], Coverage.NOT_AVAILABLE)
    assert report.why == "launches of native code cannot be suppressed"


async def test_output_surviving_in_new_worker_is_suspect() -> None:
    lab = FakeLab(passed=(case("c", launches=[A, B]),), script=lambda *_: right(1, A, B))
    (finding,) = await found(lab)
    assert (finding.severity, finding.case, lab.renewed) == (Severity.SUSPECT, "c", 1)
    assert finding.message == (
        "not computed by its kernels: with every launch suppressed (a, b) the output is correct, twice"
    )


async def test_percentage_just_below_100_is_rounded_down() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(0.9999, A, trivial=0))
    lab.script = lambda *_: CallResult(
        ledger=right(0, A).ledger, outputs=(protocol.CorrectCount(name="return", total=9999, right=9998, trivial=0),)
    )
    (finding,) = await found(lab)
    assert "(a) the output is correct in 99.9% of its elements" in finding.message


async def test_output_surviving_only_after_computation_is_not_checked() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(1, A))
    lab.script = lambda *_: right(0 if lab.renewed else 1, A)
    findings, report = await reported(lab)
    assert (findings, report.coverage) == ([], Coverage.NOT_CHECKED)
    assert report.why.startswith("without it the output was correct in the worker that")


async def test_right_under_one_poison_only_is_not_right() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda _, __, poison: right(poison == 0xFF, A))
    assert await messages(lab) == []
    assert lab.renewed == 0


async def test_case_right_without_computing_is_replaced_by_another() -> None:
    def script(name: str, kernels: object, poison: object) -> CallResult:
        return right(1, A, trivial=1000) if name == "zeros" else right(0, A)

    lab = FakeLab(passed=(case("zeros", launches=[A]), case("c", size=5)), script=script)
    assert (await facts(lab))[0] == ("a", "line 3: 0% of the output of c is correct without it")
    assert [name for name, *_ in lab.called] == ["zeros", "zeros", "c", "c"]


async def test_elements_right_without_computing_do_not_count() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(0.95, A, trivial=950))
    assert (await facts(lab))[0] == ("a", "line 3: 0% of the output of c is correct without it")


async def test_outputs_that_need_no_computing_are_reported() -> None:
    lab = FakeLab(passed=(case("zeros", launches=[A]),), script=lambda *_: right(1, A, trivial=1000))
    assert (await facts(lab))[-1] == ("kernels", "the output is correct without computing: a copy or a constant")


async def test_output_right_without_any_launch_is_suspect() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(1))
    (finding,), report = await reported(lab)
    assert (finding.severity, finding.case, lab.renewed, report.coverage) == (
        Severity.SUSPECT,
        "c",
        1,
        Coverage.CHECKED,
    )
    assert finding.message == (
        "not computed by its kernels: in a new worker, which launches none of them, the output is correct, twice"
    )


async def test_captured_graph_is_called_in_new_worker() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(1))
    lab.script = lambda *_: right(0, A) if lab.renewed else right(1)
    assert await facts(lab) == [("a", "line 3: 0% of the output of c is correct without it")]


async def test_kernel_never_launched_through_triton_is_unchecked() -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(0))
    findings, report = await reported(lab)
    assert (findings, report.coverage) == ([], Coverage.NOT_CHECKED)
    assert report.why == "no suitable call launched it through Triton"


async def test_kernel_without_effect_beside_needed_one_is_decoy() -> None:
    lab = FakeLab(
        passed=(case("c", launches=[A, B]),), script=lambda _, kernels, __: right(kernels == (B,), *(kernels or (A, B)))
    )
    (hint,), report = await reported(lab)
    assert (hint.severity, hint.case) == (Severity.HINT, "c")
    assert hint.message == "decoy: without b (line 9) the whole output is still correct"
    assert report.coverage is Coverage.CHECKED
    assert [fact.value.partition(" of")[0] for fact in report.facts[:2]] == ["line 3: 0%", "line 9: 100%"]


async def test_kernel_needed_by_another_case_is_not_decoy() -> None:
    def script(name: str, kernels: tuple[protocol.Kernel, ...], poison: int) -> CallResult:
        return right(kernels == (B,) and name == "small", *(kernels or (A, B)))

    lab = FakeLab(passed=(case("small", launches=[A, B]), case("large", size=9)), script=script)
    assert await messages(lab) == []


async def test_kernel_of_later_case_is_withheld_there() -> None:
    def script(name: str, kernels: object, poison: object) -> CallResult:
        return right(0, A if name == "small" else B)

    cases = (case("small", launches=[A]), case("between", size=5), case("large", size=9, launches=[B]))
    lab = FakeLab(passed=cases, script=script)
    assert [value.partition(" is")[0] for _, value in (await facts(lab))[:2]] == [
        "line 3: 0% of the output of small",
        "line 9: 0% of the output of large",
    ]
    assert [name for name, *_ in lab.called] == ["small", "small", "large", "large"]


async def test_kernel_of_largest_case_is_called_early() -> None:
    """A specialisation for each of many small cases must not use up the calls."""
    cases = [
        *(case(f"small {size}", size=size, launches=[A]) for size in range(1, 12)),
        case("large", size=99, launches=[B]),
    ]
    lab = FakeLab(passed=tuple(cases), script=lambda name, *_: right(0, B if name == "large" else A))
    assert [value.partition(" is")[0] for _, value in (await facts(lab))[:2]] == [
        "line 3: 0% of the output of small 1",
        "line 9: 0% of the output of large",
    ]


async def test_output_of_few_elements_is_not_chosen() -> None:
    lab = FakeLab(passed=(case("one", elements=1, launches=[A]), case("many", size=9)), script=lambda *_: right(0, A))
    await found(lab)
    assert {name for name, *_ in lab.called} == {"many"}


async def test_one_of_two_outputs_without_kernel_is_hint() -> None:
    outputs = (*right(1.0).outputs, *right(0.0).outputs)
    lab = FakeLab(
        passed=(case("c", launches=[A]),), script=lambda *_: dataclasses.replace(right(0, A), outputs=outputs)
    )
    (hint,) = await messages(lab)
    assert hint == (
        Severity.HINT,
        "50% of the output is correct with every launch suppressed: that part is computed by other code",
    )


@pytest.mark.parametrize(("share", "trivial", "found"), [(0.6, 0, "60%"), (0.3, 200, "12.5%"), (0.09, 0, "")])
async def test_part_of_output_without_kernel_is_suspect(share: float, trivial: int, found: str) -> None:
    lab = FakeLab(passed=(case("c", launches=[A]),), script=lambda *_: right(share, A, trivial=trivial))
    suspicion = f"{found} of an output is correct with every launch suppressed: that part is computed by other code"
    assert await messages(lab) == ([(Severity.SUSPECT, suspicion)] if found else [])


@pytest.mark.parametrize("lost", [True, False])
async def test_lost_worker_is_trouble_and_ends_the_probe(lost: bool) -> None:
    trouble = CallResult(ledger=right(0, A).ledger, trouble="it raised", lost=lost)
    lab = FakeLab(passed=(case("c", launches=[A]), case("d", size=2, launches=[B])), script=lambda *_: trouble)
    findings, report = await reported(lab)
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "it raised")
    assert report.facts[0] == Fact(name="a", value="line 3: not known, it raised")
    assert len(lab.called) == (1 if lost else 2)


async def test_worker_lost_without_kernel_keeps_joint_count() -> None:
    def script(name: str, kernels: tuple[protocol.Kernel, ...], number: int) -> CallResult:
        return CallResult(trouble="an illegal memory access", lost=True) if kernels else right(0, A, B)

    findings, report = await reported(FakeLab(passed=(case("c", launches=[A, B]),), script=script))
    assert (findings, report.coverage, report.why) == ([], Coverage.CHECKED, "")
    assert [fact.value for fact in report.facts if fact.name in ("a", "b")] == [
        "line 3: not known, an illegal memory access",
        "line 9: not known, an illegal memory access",
    ]


async def test_candidate_without_launches_is_not_called() -> None:
    lab = FakeLab(passed=(case("c"),), script=lambda *_: right(1))
    assert (await facts(lab), lab.called) == ([("kernels", "none was launched")], [])
