"""Which cases are asked what, and what is told of the answers; judge and worker are played here."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
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
    Limits,
    Outcome,
    OutputReport,
    ProblemDefinition,
    Severity,
    Tier,
    Tolerance,
)
from engine.model.layers import Coverage, Layer, LayerReport
from engine.probes import content
from engine.probes.lab.case_session import CaseSession, Lab, PassedCase
from engine.protocol import Variant

EVERYTHING = tuple(Variant)
FEW = (Variant.MOVED, Variant.ONE_ELEMENT, Variant.SCALED)
ARENA = protocol.ArenaSpec(handle="h", storages=(), bytes=256)
WRONG = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, message="3 of 4 wrong")
INFINITE = OutputReport(
    name="return", outcome=Outcome.NONFINITE, message="3 of 4 wrong", mismatched=3, nonfinite_got=3, total=4
)


def never(*_: object) -> object:
    raise AssertionError("the parent makes no tensors")


def case(name: str, *, size: int = 1000, elements: int = 9, kernels: Sequence[str] = (), calls: int = 12) -> PassedCase:
    one = Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={"size": size})
    report = OutputReport(name="return", outcome=Outcome.PASS, total=elements)
    result = CaseResult(
        case=name, tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.1, calls=calls, seed=1, outputs=(report,)
    )
    launches = tuple(
        Launch(
            kernel=kernel, line=3, signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,)
        )
        for kernel in kernels
    )
    return PassedCase(case=one, result=result, launches=launches)


def tensor(shape: tuple[int, ...], strides: tuple[int, ...], first: int = 0) -> protocol.TensorSpec:
    return protocol.TensorSpec(storage=0, dtype="float32", shape=shape, strides=strides, first=first)


@dataclass(kw_only=True)
class FakeLab:
    """Stands for a Lab; `asked` are the variants that were called or dismissed, by case."""

    passed: tuple[PassedCase, ...]
    wrong: Callable[[str, Variant], bool] = lambda case, variant: False
    report: OutputReport = WRONG
    dismissed: Callable[[Variant], str] = lambda variant: ""
    dies: bool = False
    tensors: tuple[protocol.ValueSpec, ...] = ()
    asked: list[tuple[str, Variant]] = field(default_factory=list)
    prepared_variant: list[tuple[str, Variant]] = field(default_factory=list)

    @property
    def lab(self) -> Lab:
        played = SimpleNamespace(
            passed=self.passed, process_pool=SimpleNamespace(ask_judge=self._judge), ask=self._worker, at=self._at,
            limits=Limits(), place=0, size_of=lambda case: case.size("size"),
            profile=SimpleNamespace(span=lambda name: contextlib.nullcontext()),
            problem=ProblemDefinition(
                name="toy::f", entry="f", signature="f(x: Tensor) -> Tensor", summary="", category="toy",
                cases=tuple(one.case for one in self.passed) or (case("c").case,),
                make_inputs=never, reference=never, eager=never,  # type: ignore[arg-type]  # never called
                tolerance=lambda _: Tolerance(relative=0.0, absolute=0.0),
                cost=lambda case: Cost(flops=0, bytes_read=case.size("size"), bytes_written=0),
            ).problem("toy_problems"),
        )  # fmt: skip
        return cast(Lab, played)  # cast: the double at the seam

    @contextlib.asynccontextmanager
    async def _at(self, case: Case) -> AsyncIterator[CaseSession]:
        self._case = case.name
        prepared = protocol.Prepared(id="p", arguments=(), arena=ARENA, elapsed_s=0.0)
        session = SimpleNamespace(lab=self.lab, case=case, prepared=prepared, outputs=Path("/nowhere"))
        yield cast(CaseSession, session)  # cast: the double at the seam

    async def _judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        match command:
            case protocol.LayOutVariant():
                self.asked.append((self._case, command.variant))
                changed = "x[3] 1 became 2" if command.variant is Variant.ONE_ELEMENT else ""
                why = self.dismissed(command.variant)
                return protocol.VariantLaidOut(
                    id=command.id, arena=ARENA, dismissed=why, changed=changed, kept=("table",)
                )
            case protocol.PrepareVariant():
                self.prepared_variant.append((self._case, command.variant))
                return protocol.Done(id=command.id)
            case protocol.Compare():
                reports = (self.report,) if self.wrong(*self.asked[-1]) else ()
                return protocol.Compared(id=command.id, reports=reports, repeated=None, mutated=None)
            case protocol.Describe():
                shape = protocol.Shape(arguments=self.tensors, storages=())
                return protocol.Described(id=command.id, shapes=(shape,) * len(command.cases))
        raise AssertionError(command)

    async def _worker(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        if self.dies:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.OUT_OF_MEMORY, message="no memory")
        return protocol.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0)

    def asked_of(self, name: str) -> tuple[Variant, ...]:
        return tuple(variant for case, variant in self.asked if case == name)


async def reported(lab: FakeLab) -> tuple[list[Finding], LayerReport]:
    seen = [one async for one in content.probe(lab.lab)]
    (report,) = (one for one in seen if isinstance(one, LayerReport))
    return [one for one in seen if isinstance(one, Finding)], report


async def facts(lab: FakeLab) -> list[tuple[str, str]]:
    return [(fact.name, fact.value) for fact in (await reported(lab))[1].facts]


async def test_first_case_with_kernel_gets_all_variants() -> None:
    lab = FakeLab(passed=(case("first", kernels=["a"]), case("small", size=300), case("large", size=15_000)))
    found, report = await reported(lab)
    assert (lab.asked_of("first"), lab.asked_of("large"), lab.asked_of("small")) == (EVERYTHING, FEW, ())
    assert (found, report.layer, report.by, report.coverage) == ([], Layer.INPUTS, "content", Coverage.CHECKED)


async def test_next_variant_is_prepared_during_the_call() -> None:
    lab = FakeLab(passed=(case("first", kernels=["a"]), case("large", size=15_000)))
    await reported(lab)
    assert lab.prepared_variant == [
        *(("first", variant) for variant in EVERYTHING[1:]),
        *(("large", one) for one in FEW[1:]),
    ]


async def test_slow_case_is_not_the_larger_one() -> None:
    lab = FakeLab(passed=(case("first", kernels=["a"]), case("between", size=9000), case("large", size=17_000)))
    await reported(lab)
    assert (lab.asked_of("between"), lab.asked_of("large")) == (FEW, ())


async def test_no_more_calls_are_made_than_verifying_took() -> None:
    for calls, asked in ((3, ()), (5, ()), (6, FEW)):
        lab = FakeLab(passed=(case("first", kernels=["a"], calls=calls), case("large", calls=calls)))
        await reported(lab)
        assert (lab.asked_of("first"), lab.asked_of("large")) == (EVERYTHING, asked)


async def test_kernel_of_later_case_is_called_there() -> None:
    again, large = case("again", size=300, kernels=["a"]), case("large", size=2000)
    lab = FakeLab(passed=(case("first", kernels=["a"]), again, case("other", kernels=["a", "b"]), large))
    await reported(lab)
    assert (lab.asked_of("first"), lab.asked_of("other"), lab.asked_of("again")) == (EVERYTHING, FEW, ())


async def test_tiny_case_gets_fewer_variants() -> None:
    lab = FakeLab(passed=(case("one", size=8, kernels=["a"]), case("more", size=400)))
    await reported(lab)
    assert (lab.asked_of("one"), lab.asked_of("more")) == (FEW, EVERYTHING)


async def test_largest_case_is_called_when_all_are_tiny() -> None:
    lab = FakeLab(passed=(case("one", size=8), case("two", size=16)))
    await reported(lab)
    assert lab.asked_of("two") == EVERYTHING


async def test_large_case_gets_few_variants_and_is_reported() -> None:
    lab = FakeLab(passed=(case("a", size=65 << 20, kernels=["k"]), case("b", size=65 << 20)))
    assert ("left out", "a is large: only 3 of 9 input distributions are used") in await facts(lab)
    assert lab.asked_of("a") == FEW
    assert lab.asked_of("b") == ()


async def test_case_without_output_is_not_called() -> None:
    lab = FakeLab(passed=(case("empty", elements=0, kernels=["a"]),))
    _, report = await reported(lab)
    assert (lab.asked, report.coverage) == ([], Coverage.CHECKED)
    assert report.facts[0].value == "no case has an output with elements"


async def test_wrong_output_is_suspect_and_ends_the_probe() -> None:
    lab = FakeLab(passed=(case("c", kernels=["a"]), case("d")), wrong=lambda _, variant: variant is Variant.EVEN)
    (finding,), report = await reported(lab)
    assert (finding.check, finding.severity, finding.case) == ("content", Severity.SUSPECT, "c")
    assert finding.message == (
        "2 cases passed, but wrong on rows of one value among others, where eager is correct: 3 of 4 wrong"
    )
    assert lab.asked[-1] == ("c", Variant.EVEN)
    assert report.coverage is Coverage.CHECKED
    assert (report.facts[0].name, report.facts[0].value) == ("c", "passed 4/5 input distributions")


async def test_overflow_on_large_values_is_a_hint() -> None:
    lab = FakeLab(
        passed=(case("c", kernels=["a"]),), wrong=lambda _, variant: variant is Variant.LARGE, report=INFINITE
    )
    (finding,), report = await reported(lab)
    message = "overflow on large values, where eager is correct: 3 of 4 wrong"
    assert (finding.severity, finding.message) == (Severity.HINT, message)
    assert (report.facts[0].name, report.facts[0].value) == ("c", "passed 8/9 input distributions")


@pytest.mark.parametrize(
    ("variant", "report"),
    [(Variant.LARGE, replace(INFINITE, nonfinite_got=2)), (Variant.TINY, INFINITE)],
)
async def test_other_infinite_outputs_are_suspect(variant: Variant, report: OutputReport) -> None:
    lab = FakeLab(passed=(case("c", kernels=["a"]),), wrong=lambda _, one: one is variant, report=report)
    (finding,), _ = await reported(lab)
    assert finding.severity is Severity.SUSPECT


async def test_changed_element_is_named_in_the_finding() -> None:
    lab = FakeLab(passed=(case("c", kernels=["a"]),), wrong=lambda _, variant: variant is Variant.ONE_ELEMENT)
    (finding,), _ = await reported(lab)
    assert finding.message == (
        "1 case passed, but wrong on the content of the call before but for one element (x[3] 1 became 2), "
        "where eager is correct: 3 of 4 wrong"
    )


async def test_moved_content_needs_no_eager() -> None:
    lab = FakeLab(passed=(case("c", kernels=["a"]),), wrong=lambda _, variant: variant is Variant.MOVED)
    (finding,), _ = await reported(lab)
    assert finding.message == "1 case passed, but wrong on the same content in other memory: 3 of 4 wrong"


async def test_failed_call_is_not_checked() -> None:
    lab = FakeLab(passed=(case("c", kernels=["a"]), case("d")), dies=True)
    found, report = await reported(lab)
    assert (found, report.coverage) == ([], Coverage.NOT_CHECKED)
    assert report.why == "c, the same content in other memory: no memory"
    assert len(lab.asked) == 1


async def test_dismissed_variant_is_reported_with_reason() -> None:
    lab = FakeLab(
        passed=(case("c", kernels=["a"]), case("d")),
        dismissed=lambda variant: "eager fails on it" if variant is Variant.SCALED else "",
    )
    assert (await facts(lab))[:4] == [
        ("c", f"passed {len(EVERYTHING) - 1}/{len(EVERYTHING) - 1} input distributions"),
        ("d", "passed 2/2 input distributions"),
        ("dismissed", "2 input distributions: a correct kernel may be wrong on them"),
        ("dismissed", "rows of many scales and both signs: eager fails on it"),
    ]


async def test_output_that_no_content_changes_is_reported() -> None:
    assert ("left as they are", "table") in await facts(FakeLab(passed=(case("c", kernels=["a"]),)))


@pytest.mark.parametrize(
    ("argument", "boundary", "strided", "offset"),
    [
        (tensor((32, 16), (16, 1)), "none", "none", "none"),
        (tensor((32, 17), (17, 1)), "1", "none", "none"),
        (tensor((0,), (1,)), "1", "none", "none"),
        (tensor((16, 32), (1, 16)), "none", "1", "none"),
        (tensor((16, 32), (0, 1)), "none", "1", "none"),
        (tensor((32, 16), (16, 1), first=3), "none", "none", "1"),
        (protocol.SequenceSpec(items=(tensor((16, 32), (1, 16)),), is_tuple=False), "none", "1", "none"),
        (protocol.ScalarSpec(value=17), "none", "none", "none"),
    ],
)
async def test_shapes_and_strides_of_the_cases_are_counted(
    argument: protocol.ValueSpec, boundary: str, strided: str, offset: str
) -> None:
    lab = FakeLab(passed=(case("c", kernels=["a"]),), tensors=(argument,))
    assert (await facts(lab))[-3:] == [
        ("boundary shapes", f"in {boundary} of 1 verified cases"),
        ("strided inputs", f"in {strided} of 1 verified cases"),
        ("offset inputs", f"in {offset} of 1 verified cases"),
    ]
