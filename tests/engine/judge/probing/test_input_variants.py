"""The judge prepares unusual content, and dismisses it where an honest kernel might be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from engine import protocol
from engine.devices.hardware.device_memory import DeviceBlock
from engine.draws import Draws
from engine.judge.compare.outputs import right_counts
from engine.judge.inputs import cases
from engine.judge.probing.input_variants import Variants
from engine.model import Case, Cost, DType, ProblemDefinition, Tier, Tolerance
from engine.protocol import Variant, tensors

CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.FULL, params={})
CPU = torch.device("cpu")
Inputs = Callable[[torch.Generator], tuple[Any, ...]]


def drawn(*shape: int) -> Inputs:
    return lambda rng: (torch.randn(shape, generator=rng),)


def problem(
    inputs: Inputs, reference: Callable[..., Any], *, relative: float = 1e-3, **changes: Any
) -> ProblemDefinition:
    """A problem of one case, whose eager is the reference unless another is given."""
    names = ", ".join(f"a{i}" for i in range(len(inputs(torch.Generator()))))
    given: dict[str, Any] = {"eager": reference, **changes}
    return ProblemDefinition(
        name="toy::f",
        entry="f",
        signature=f"f({names})",
        summary="",
        category="toy",
        cases=(CASE,),
        make_inputs=lambda case, rng: inputs(rng),
        reference=reference,
        tolerance=lambda case: Tolerance(relative=relative, absolute=0.0),
        cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
        **given,
    )


class Judge:
    """Variants of one case, in a file or in memory that stands for a device's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = 0
        self.memory = cases.ArenaMemory(CPU, allocate=_block)
        self.variants = Variants(CPU, self.memory)
        self.prepared: cases.PreparedCase

    def prepare(self, judged: ProblemDefinition, *, on_device: bool = False) -> None:
        content = cases.Contents(CPU).make(judged, CASE, 7)
        arena: cases.Arena
        if on_device:
            arena = cases.arena_on_device(content, self.memory)
        else:
            arena = cases.arena_in_file(content, self.file())
        self.prepared = cases.PreparedCase(
            problem=judged, case=CASE, arena=arena, base=content, content=content, draws=Draws(7, "variants")
        )
        cases.fill(self.prepared, content, 1)

    def file(self) -> Path:
        self.files += 1
        return self.folder / f"{self.files}.in"

    def vary(self, variant: Variant, *, path: Path | None = None) -> protocol.VariantLaidOut:
        command = protocol.LayOutVariant(id="v", variant=variant, poison=0x7B, arena_path=str(path) if path else None)
        return self.variants.vary(self.prepared, command)

    def input(self, number: int = 0) -> torch.Tensor:
        """An argument as the worker would find it."""
        value = tensors.value_of(self.prepared.base.specs[number], self.prepared.arena.read())
        assert isinstance(value, torch.Tensor)
        return value


def _block(size_bytes: int, device: torch.device) -> DeviceBlock:
    content = torch.zeros(size_bytes, dtype=torch.uint8)
    block = SimpleNamespace(handle="h", size_bytes=size_bytes, content=content)
    return cast(DeviceBlock, block)  # cast: memory of the host, in the driver's stead


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    judge = Judge(tmp_path)
    yield judge
    judge.prepared.arena.close()


TWICE = problem(drawn(4, 40), lambda x: 2 * x)


def test_moved_content_overwrites_old_file(judge: Judge) -> None:
    judge.prepare(TWICE)
    first, other = judge.prepared.arena.spec, judge.file()
    before = judge.input().clone()
    varied = judge.vary(Variant.MOVED, path=other)
    assert (varied.arena, varied.dismissed) == (judge.prepared.arena.spec, "")
    assert varied.arena.path == str(other)
    assert torch.equal(judge.input(), before)
    assert varied.arena.storages[0].offset >= first.bytes
    assert set(Path(first.path).read_bytes()) == {0x7B}


def test_content_in_device_memory_is_moved_behind_itself(judge: Judge) -> None:
    judge.prepare(TWICE, on_device=True)
    first, before = judge.prepared.arena.spec, judge.input().clone()
    varied = judge.vary(Variant.MOVED)
    assert torch.equal(judge.input(), before)
    assert varied.arena.outputs is not None
    assert min(varied.arena.storages[0].offset, varied.arena.outputs.offset) >= first.bytes
    assert set(judge.memory.block(1).content[: first.bytes].tolist()) == {0x7B}


def test_moved_content_keeps_its_expected_output(judge: Judge) -> None:
    judge.prepare(TWICE)
    judge.vary(Variant.LARGE)
    judge.vary(Variant.MOVED, path=judge.file())
    assert judge.prepared.content is judge.prepared.base


@pytest.mark.parametrize("variant", [variant for variant in Variant if variant is not Variant.MOVED])
def test_every_variant_has_own_content_and_reference(judge: Judge, variant: Variant) -> None:
    judge.prepare(TWICE)
    spec, before = judge.prepared.arena.spec, judge.input().clone()
    varied = judge.vary(variant)
    assert (varied.dismissed, varied.arena) == ("", spec)
    assert not torch.equal(judge.input(), before)
    assert torch.equal(judge.prepared.content.expected[0], 2 * judge.input())


def test_prepared_variant_is_laid_out_when_used(judge: Judge) -> None:
    judge.prepare(TWICE)
    judge.vary(Variant.EQUAL)
    before = judge.input().clone()
    judge.variants.prepare_variant(judge.prepared, Variant.ONE_ELEMENT)
    prepared_variant = judge.prepared.prepared_variant
    assert prepared_variant is not None
    assert torch.equal(judge.input(), before)
    varied = judge.vary(Variant.ONE_ELEMENT)
    assert (varied.dismissed, varied.changed) == ("", prepared_variant.changed)
    assert judge.prepared.content is prepared_variant.content
    assert int((judge.input() != before).sum()) == 1


def test_variant_of_other_content_is_recomputed(judge: Judge) -> None:
    judge.prepare(TWICE)
    judge.variants.prepare_variant(judge.prepared, Variant.ONE_ELEMENT)
    judge.vary(Variant.EQUAL)
    before = judge.input().clone()
    judge.variants.prepare_variant(judge.prepared, Variant.ONE_ELEMENT)
    cases.fill(judge.prepared, judge.prepared.base, 1)
    base = judge.input().clone()
    judge.vary(Variant.ONE_ELEMENT)
    assert int((judge.input() != base).sum()) == 1
    assert not torch.equal(before, base)


def test_changed_element_stays_in_range_for_integer_output(judge: Judge) -> None:
    judge.prepare(problem(lambda rng: (torch.randn(8, 40, generator=rng) - 1000,), lambda x: x.argmax(1)))
    before = judge.input().clone()
    assert judge.vary(Variant.ONE_ELEMENT).dismissed == ""
    assert int((judge.input() != before).sum()) == 1
    assert judge.input().max() <= before.max()


def test_prepared_variant_may_be_dismissed(judge: Judge) -> None:
    judge.prepare(problem(drawn(8, 8), lambda x: torch.ones(3)))
    judge.variants.prepare_variant(judge.prepared, Variant.ONE_ELEMENT)
    content = judge.prepared.content
    assert judge.vary(Variant.ONE_ELEMENT).dismissed == "no element was found that the answer depends on"
    assert judge.prepared.content is content


def test_variants_are_made_from_prepared_content(judge: Judge) -> None:
    judge.prepare(TWICE)
    before = judge.input().clone()
    judge.vary(Variant.EQUAL)
    judge.vary(Variant.LARGE)
    assert torch.equal(judge.input(), before * 2.0**20)


def test_changed_element_changes_the_expected_output(judge: Judge) -> None:
    judge.prepare(problem(drawn(40, 39), lambda x: x[:, ::4].clone()))
    judge.vary(Variant.PERMUTED)
    before = judge.input().clone()
    varied = judge.vary(Variant.ONE_ELEMENT)
    ((row, column),) = (judge.input() != before).nonzero().tolist()
    assert column % 4 == 0
    old, new = float(before[row, column]), float(judge.input()[row, column])
    assert varied.changed == f"a0[{row},{column}] {old:.6g} became {new:.6g}"


def test_changed_element_is_found_in_a_dependent_sample(judge: Judge) -> None:
    judge.prepare(problem(drawn(6), lambda x: x[[0, 2, 3, 4, 5]]))
    assert judge.vary(Variant.ONE_ELEMENT).dismissed == ""


def test_output_that_no_element_changes_is_dismissed(judge: Judge) -> None:
    judge.prepare(problem(drawn(8, 8), lambda x: torch.ones(3)))
    assert judge.vary(Variant.ONE_ELEMENT).dismissed == "no element was found that the answer depends on"


def test_change_within_tolerance_does_not_count(judge: Judge) -> None:
    judge.prepare(problem(drawn(8, 8), lambda x: 1 + 1e-6 * x.sum(1)))
    assert judge.vary(Variant.ONE_ELEMENT).dismissed == "no element was found that the answer depends on"


def test_content_equal_for_every_seed_is_dismissed(judge: Judge) -> None:
    table = torch.linspace(1, 2, 40)
    judge.prepare(problem(lambda rng: (torch.randn(4, 40, generator=rng), table.clone()), lambda x, t: x * t))
    for variant in (Variant.LARGE, Variant.ONE_ELEMENT):
        assert judge.vary(variant).kept == ("a1",)
        assert torch.equal(judge.input(1), table)


def test_argument_with_structure_is_not_varied(judge: Judge) -> None:
    def inputs(rng: torch.Generator) -> tuple[Any, ...]:
        return torch.randn(4, 4, generator=rng) + 4 * torch.eye(4), torch.randn(4, 3, generator=rng)

    judge.prepare(replace(problem(inputs, torch.linalg.solve), structured=("a0",)))
    matrix = judge.input(0).clone()
    for variant in (Variant.EVEN, Variant.PERMUTED, Variant.ONE_ELEMENT):
        varied = judge.vary(variant)
        assert (varied.dismissed, varied.kept) == ("", ("a0",))
        assert torch.equal(judge.input(0), matrix)


def test_integers_stay_unchanged(judge: Judge) -> None:
    def inputs(rng: torch.Generator) -> tuple[Any, ...]:
        return torch.randn(9, 8, generator=rng), torch.randint(9, (5,), generator=rng)

    judge.prepare(problem(inputs, lambda x, at: x[at]))
    before = judge.input(1).clone()
    assert judge.vary(Variant.LARGE) == protocol.VariantLaidOut(id="v", arena=judge.prepared.arena.spec)
    assert torch.equal(judge.input(1), before)


def test_integer_inputs_dismiss_value_variants(judge: Judge) -> None:
    judge.prepare(problem(lambda rng: (torch.randint(9, (5,), generator=rng),), lambda x: x + 1))
    assert judge.vary(Variant.LARGE).dismissed == "no tensor of numbers may be changed"
    assert judge.vary(Variant.MOVED, path=judge.file()).dismissed == ""


def test_elements_of_expanded_tensor_stay_equal(judge: Judge) -> None:
    judge.prepare(problem(lambda rng: (torch.randn(1, 40, generator=rng).expand(6, 40),), lambda x: x.sum(0)))
    for variant in (Variant.SCALED, Variant.ONE_ELEMENT):
        assert judge.vary(variant).dismissed == ""
        assert bool((judge.input() == judge.input()[0]).all())
        assert torch.allclose(judge.prepared.content.expected[0], 6 * judge.input()[0])


def test_written_argument_is_varied_and_compared(judge: Judge) -> None:
    judge.prepare(problem(drawn(4, 8), lambda x: x.mul_(2), returns=0, mutates=("a0",)))
    before = judge.input().clone()
    assert judge.vary(Variant.LARGE).dismissed == ""
    assert torch.equal(judge.input(), before * 2.0**20)
    assert torch.equal(judge.prepared.content.expected[0], before * 2.0**21)


def test_write_only_argument_is_not_varied(judge: Judge) -> None:
    def inputs(rng: torch.Generator) -> tuple[Any, ...]:
        return torch.randn(4, generator=rng), torch.randn(4, generator=rng)

    written: dict[str, Any] = {"returns": 0, "mutates": ("a1",), "written_only": ("a1",)}
    judge.prepare(problem(inputs, lambda x, out: 2 * x, eager=lambda x, out: out.copy_(2 * x), **written))
    assert judge.vary(Variant.LARGE).dismissed == ""
    assert judge.prepared.free == (judge.prepared.base.specs[0],)


def test_nonfinite_reference_dismisses_the_variant(judge: Judge) -> None:
    judge.prepare(problem(drawn(8), lambda x: (x * 1e38) * (x.abs().max() / 100)))
    assert judge.vary(Variant.LARGE).dismissed == "the reference is not finite"


def test_vanishing_expected_output_dismisses_the_variant(judge: Judge) -> None:
    judge.prepare(problem(lambda rng: (-torch.rand(8, generator=rng),), lambda x: x * torch.exp(x)))
    why = "the answer is nearly zero, and so is its tolerance"
    assert judge.vary(Variant.LARGE).dismissed == why
    assert judge.vary(Variant.TINY).dismissed == ""


def test_expected_output_near_zero_dismisses_the_variant(judge: Judge) -> None:
    small = Tolerance(relative=0.0, absolute=0.25, least_scale=1.0)
    judge.prepare(replace(problem(drawn(1), lambda x: x.abs() + 1), tolerance=lambda case: small))
    assert judge.vary(Variant.TINY).dismissed == ""
    judge.prepare(replace(problem(drawn(1), lambda x: x * 2), tolerance=lambda case: small))
    assert judge.vary(Variant.TINY).dismissed == "a zero is within tolerance of the answer"


def tanh_by_exp(x: torch.Tensor) -> torch.Tensor:
    """As `torch.tanh`, with the errors of a difference from 1."""
    return 1 - 2 / (torch.exp(2 * x) + 1)


ALLOWED = Tolerance(relative=1e-6, absolute=1e-6)


def test_cancellation_in_small_answers_is_right(judge: Judge) -> None:
    judge.prepare(replace(problem(drawn(40), torch.tanh), tolerance=lambda case: ALLOWED))
    assert judge.vary(Variant.TINY).dismissed == ""
    call = cases.finished_call(judge.prepared, [tanh_by_exp(judge.input())])
    assert right_counts(call) == (40,)
    assert right_counts(replace(call, rounding=()))[0] < 10


def gated(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return weight * torch.sigmoid(4 * x)


def gated_by_difference(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The same with errors as large as those of the weight, whatever the answer."""
    return 7 * weight - (6 * weight + weight / (1 + torch.exp(4 * x)))


def test_cancellation_among_usual_numbers_is_right(judge: Judge) -> None:
    def inputs(rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(400, generator=rng), 2 * torch.randn(400, generator=rng) + 1

    judge.prepare(replace(problem(inputs, gated), tolerance=lambda case: ALLOWED))
    assert judge.vary(Variant.ORDERED).dismissed == ""
    arguments = judge.input(0), judge.input(1)
    call = cases.finished_call(judge.prepared, [gated_by_difference(*arguments)])
    assert right_counts(call) == (400,)
    assert right_counts(replace(call, rounding=()))[0] < 400
    assert right_counts(cases.finished_call(judge.prepared, [torch.zeros(400)]))[0] < 200


def test_small_answers_left_out_are_wrong(judge: Judge) -> None:
    judge.prepare(replace(problem(drawn(40), torch.tanh), tolerance=lambda case: ALLOWED))
    judge.vary(Variant.TINY)
    assert right_counts(cases.finished_call(judge.prepared, [torch.zeros(40)]))[0] < 40


def test_answers_as_small_as_errors_dismiss_the_variant(judge: Judge) -> None:
    judge.prepare(problem(lambda rng: (torch.ones(2) + torch.rand(2, generator=rng) / 99,), torch.expm1))
    assert judge.vary(Variant.TINY).dismissed == "a zero is within tolerance of the answer"


def test_failing_reference_dismisses_the_variant(judge: Judge) -> None:
    def positive(x: torch.Tensor) -> torch.Tensor:
        if bool((x < 0).any()):
            raise ValueError("x must not be negative")
        return x + 1

    judge.prepare(problem(lambda rng: (torch.rand(8, generator=rng),), positive))
    assert judge.vary(Variant.ORDERED).dismissed == "the reference fails on it: ValueError"


def test_variant_that_eager_gets_wrong_is_dismissed(judge: Judge) -> None:
    judge.prepare(problem(drawn(8), lambda x: 2 * x, eager=lambda x: (2 * x).clamp(-1e3, 1e3)))
    assert judge.vary(Variant.LARGE).dismissed == "eager is not clearly correct on it"
    assert judge.vary(Variant.TINY).dismissed == ""


def test_eager_must_pass_with_half_the_tolerance(judge: Judge) -> None:
    judge.prepare(problem(drawn(8), lambda x: 2 * x, eager=lambda x: 2 * x * 1.0007))
    assert judge.vary(Variant.LARGE).dismissed == "eager is not clearly correct on it"


def test_failing_eager_dismisses_the_variant(judge: Judge) -> None:
    def refusing(x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("not implemented")

    judge.prepare(problem(drawn(8), lambda x: 2 * x, eager=refusing))
    assert judge.vary(Variant.LARGE).dismissed == "eager fails on it: RuntimeError"


@pytest.mark.parametrize("variant", [Variant.SCALED, Variant.EVEN, Variant.EQUAL, Variant.ORDERED, Variant.TINY])
def test_integer_output_gets_no_ties(judge: Judge, variant: Variant) -> None:
    judge.prepare(problem(drawn(8, 40), lambda x: x.argmax(1)))
    assert judge.vary(variant).dismissed == "an integer answer may depend on rounding there"
    assert judge.vary(Variant.PERMUTED).dismissed == ""


def test_boolean_output_allows_variants_without_ties(judge: Judge) -> None:
    judge.prepare(problem(drawn(8, 40), lambda x: x > 0))
    assert judge.vary(Variant.PERMUTED).dismissed == ""


def test_dismissed_variant_leaves_case_unchanged(judge: Judge) -> None:
    judge.prepare(problem(drawn(8), lambda x: 2 * x, eager=lambda x: 3 * x))
    before, content = judge.input().clone(), judge.prepared.content
    assert judge.vary(Variant.LARGE).dismissed
    assert judge.prepared.content is content
    assert torch.equal(judge.input(), before)
