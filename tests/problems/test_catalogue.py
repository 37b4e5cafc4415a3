"""Every problem keeps the rules of the catalogue: honest answers pass on every case, known lies fail on some.

The comparison below is the rule of `engine.model.Tolerance`, written once more on purpose: a fault of
the judge's comparer must not hide a fault of a tolerance.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeGuard

import pytest
import torch

from engine.model import CalledCase, Case, DType, PointerArray, ProblemDefinition, Tier, Tolerance
from problems.catalogue import LIBRARIES, Catalogue
from tests.operators import definitions

PROBLEMS = tuple(definitions().values())
ATEN = tuple(problem for problem in PROBLEMS if problem.library == "aten")
STRIDED = tuple(problem for problem in PROBLEMS if problem.library != "cublas")
NONFINITE = tuple(problem for problem in PROBLEMS if problem.name != "vllm::topk_softmax")
QUICK_TIERS = (Tier.SMOKE, Tier.FULL)
SEED, OTHER_SEED = 11, 23
MOST_ELEMENTS = 130 * 1024
DTYPES_OF = {
    torch.float32: (DType.FLOAT32, DType.COMPLEX64),
    torch.float64: (DType.FLOAT64, DType.COMPLEX128),
}
"""The dtypes that are computed in a precision."""

Outputs: TypeAlias = tuple[torch.Tensor, ...]
Returned: TypeAlias = torch.Tensor | Sequence[torch.Tensor] | bool | int | float | complex | None
Lie: TypeAlias = Callable[[ProblemDefinition, Case], Outputs | None]

every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)


@every_problem
def test_the_first_line_of_the_module_is_a_formula(problem: ProblemDefinition) -> None:
    assert "=" in Catalogue().describe(problem.name).formula


@every_problem
def test_the_description_says_what_the_module_defines(problem: ProblemDefinition) -> None:
    described = Catalogue().describe(problem.name)
    for name in ("name", "entry", "signature", "summary", "category"):
        assert getattr(described, name) == getattr(problem, name)
    assert set(described.dtypes) == {case.dtype for case in problem.cases}
    assert {"make_inputs", "reference", "eager", "tolerance", "cost"} <= described.functions.keys()


@every_problem
def test_the_signature_names_the_entry_and_annotates_every_argument(problem: ProblemDefinition) -> None:
    definition = ast.parse(f"def {problem.signature}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    assert definition.name == problem.entry == problem.name.partition("::")[2]
    assert definition.returns is not None
    assert [argument.arg for argument in definition.args.args if argument.annotation is None] == []
    assert problem.library in LIBRARIES
    assert problem.summary and problem.category


@every_problem
def test_every_tier_has_cases(problem: ProblemDefinition) -> None:
    count_by_tier = {tier: sum(case.tier is tier for case in problem.cases) for tier in Tier}
    assert 1 <= count_by_tier[Tier.SMOKE] <= 3
    assert count_by_tier[Tier.FULL] >= 9
    assert 2 <= count_by_tier[Tier.BENCH] <= 5


@every_problem
def test_inputs_match_the_signature_and_stay_small_enough_for_the_interpreter(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        arguments = inputs(problem, case)
        assert len(arguments) == len(problem.arguments), case.name
        sizes = [tensor.numel() for tensor in tensors_in(arguments)]
        assert sum(sizes) <= MOST_ELEMENTS, case.name


@every_problem
def test_inputs_are_a_function_of_the_seed(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        first, again, other = inputs(problem, case), inputs(problem, case), inputs(problem, case, OTHER_SEED)
        assert same_values(first, again), case.name
        if all(any(map(occupied, tensors_in(values))) for values in (first, expected_outputs(problem, case))):
            assert not same_values(first, other), case.name


@every_problem
def test_inputs_have_the_layout_that_the_case_names(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        tensors = tensors_in(inputs(problem, case))
        unusual = [tensor for tensor in tensors if not tensor.is_contiguous() or tensor.storage_offset() > 0]
        named = {word for key, word in case.params.items() if key.endswith("layout")} - {"contiguous"}
        assert bool(unusual) is bool(named), case.name


@every_problem
def test_no_two_arguments_share_memory_and_what_is_written_does_not_overlap_itself(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        arguments = dict(zip(problem.arguments, inputs(problem, case), strict=True))
        tensors = tensors_in(tuple(arguments.values()))
        storages = [tensor.untyped_storage().data_ptr() for tensor in tensors if occupied(tensor)]
        assert len(storages) == len(set(storages)), case.name
        written = tensors_in(arguments[name] for name in problem.mutates)
        assert [x.shape for x in written if 0 in x.stride() and x.numel() > 0] == [], case.name


@every_problem
def test_the_reference_leaves_its_arguments_alone_and_repeats_itself(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        arguments = inputs(problem, case)
        first = as_tuple(problem.reference(*arguments))
        assert same_values(arguments, inputs(problem, case)), case.name
        assert same_values(first, as_tuple(problem.reference(*arguments))), case.name


@every_problem
def test_eager_has_the_contract_of_the_entry_and_is_accepted_on_every_case(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        assert accepted(problem, case, eager_outputs(problem, inputs(problem, case))), case.name


@every_problem
def test_eager_changes_only_what_the_problem_says_is_written(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        arguments, before = inputs(problem, case), inputs(problem, case)
        problem.eager(*arguments)
        kept = [i for i, name in enumerate(problem.arguments) if name not in problem.mutates]
        assert same_values([arguments[i] for i in kept], [before[i] for i in kept]), case.name


@every_problem
def test_arguments_that_are_only_written_may_hold_anything_before(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        arguments = inputs(problem, case)
        for name, value in zip(problem.arguments, arguments, strict=True):
            if name in problem.written_only:
                assert isinstance(value, torch.Tensor)
                value.fill_(math.nan if value.is_floating_point() or value.is_complex() else -77)
        assert same_values(as_tuple(problem.reference(*arguments)), expected_outputs(problem, case)), case.name
        assert accepted(problem, case, eager_outputs(problem, arguments)), case.name


@every_problem
def test_an_answer_in_float32_that_is_truncated_to_the_output_dtype_is_accepted(problem: ProblemDefinition) -> None:
    for case in quick_cases(problem):
        if case.dtype not in (DType.FLOAT16, DType.BFLOAT16):
            continue
        wide = tuple(each_tensor(inputs(problem, case), lambda x: x.float() if x.is_floating_point() else x))
        answers = eager_outputs(problem, wide)
        wanted = expected_outputs(problem, case)
        assert accepted(problem, case, tuple(map(truncated_to, answers, wanted))), case.name


@every_problem
def test_the_cost_is_at_most_all_arguments_and_outputs_once_and_positive_at_realistic_shapes(
    problem: ProblemDefinition,
) -> None:
    for case in quick_cases(problem):
        cost = problem.cost(case)
        assert cost.bytes_read <= bytes_of(inputs(problem, case)), case.name
        assert cost.bytes_written <= bytes_of(expected_outputs(problem, case)), case.name
    reads = any(name not in problem.written_only for name in tensor_arguments(problem))
    for case in problem.cases:
        if case.tier is not Tier.FULL:
            assert problem.cost(case).bytes_written > 0, case.name
            assert problem.cost(case).bytes_read > 0 or not reads, case.name


def tensor_arguments(problem: ProblemDefinition) -> list[str]:
    """The names of the arguments that are, or hold, tensors in the first case."""
    given = zip(problem.arguments, inputs(problem, problem.cases[0]), strict=True)
    return [name for name, value in given if tensors_in((value,))]


def zeros(problem: ProblemDefinition, case: Case) -> Outputs:
    return tuple(map(torch.zeros_like, expected_outputs(problem, case)))


def ones(problem: ProblemDefinition, case: Case) -> Outputs:
    return tuple(map(torch.ones_like, expected_outputs(problem, case)))


def mean(problem: ProblemDefinition, case: Case) -> Outputs:
    return tuple(
        torch.full_like(output, widened(output).mean().nan_to_num(0.0, 0.0, 0.0).item())
        for output in expected_outputs(problem, case)
    )


def backwards(problem: ProblemDefinition, case: Case) -> Outputs:
    return tuple(output.flatten().flip(0).view(output.shape) for output in expected_outputs(problem, case))


def unchanged_input(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """For each output the first argument that could be taken for it; None where one has no such argument."""
    tensors = tensors_in(inputs(problem, case))
    answers = []
    for wanted in expected_outputs(problem, case):
        alike = [tensor for tensor in tensors if tensor.shape == wanted.shape and tensor.dtype == wanted.dtype]
        if not alike:
            return None
        answers.append(alike[0])
    return tuple(answers)


def untouched_arguments(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """What an entry leaves that does nothing, where it returns nothing but what it was given."""
    if not problem.mutates:
        return None
    arguments = dict(zip(problem.arguments, inputs(problem, case), strict=True))
    written = tensors_in(arguments[name] for name in problem.mutates)
    return (*written[: problem.returns], *written)


def answer_to_other_inputs(problem: ProblemDefinition, case: Case) -> Outputs:
    return expected_outputs(problem, case, OTHER_SEED)


def answer_of_another_case(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """The expected outputs of the first other case that has outputs of the same shapes and dtypes."""
    form = form_of(expected_outputs(problem, case))
    for other in quick_cases(problem):
        if other.name != case.name and form_of(expected_outputs(problem, other, OTHER_SEED)) == form:
            return expected_outputs(problem, other, OTHER_SEED)
    return None


def bfloat16_arithmetic(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """Inputs that went through bfloat16, where float32 was asked for."""
    return from_degraded_inputs(problem, case, torch.float32, lambda x: x.bfloat16().float())


def tensorfloat32_arithmetic(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """Inputs cut to the ten mantissa bits of TF32, where float32 was asked for."""
    return from_degraded_inputs(
        problem, case, torch.float32, lambda x: (x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)
    )


def single_arithmetic(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """Inputs that went through float32, where float64 was asked for."""
    return from_degraded_inputs(problem, case, torch.float64, lambda x: x.float().double())


def from_degraded_inputs(
    problem: ProblemDefinition, case: Case, precision: torch.dtype, degraded: Callable[[torch.Tensor], torch.Tensor]
) -> Outputs | None:
    """Eager's answer to inputs whose floats of `precision`, or complex numbers of such, have lost digits."""
    if case.dtype not in DTYPES_OF[precision]:
        return None

    def changed(x: torch.Tensor) -> torch.Tensor:
        parts = torch.view_as_real(x) if x.is_complex() else x
        if parts.dtype != precision:
            return x
        return torch.view_as_complex(degraded(parts)) if x.is_complex() else degraded(parts)

    return eager_outputs(problem, each_tensor(inputs(problem, case), changed))


LIES: tuple[Lie, ...] = (
    zeros,
    ones,
    mean,
    backwards,
    unchanged_input,
    untouched_arguments,
    answer_to_other_inputs,
    answer_of_another_case,
    bfloat16_arithmetic,
    tensorfloat32_arithmetic,
    single_arithmetic,
)


def lies_that_can_be_told() -> list[object]:
    """Each lie with each problem, but for lies about what a problem does not have: written arguments, a precision."""
    writing = [problem for problem in PROBLEMS if problem.mutates]
    single, double = (
        [problem for problem in PROBLEMS if any(case.dtype in dtypes for case in problem.cases)]
        for dtypes in DTYPES_OF.values()
    )
    told_of: dict[Lie, Sequence[ProblemDefinition]] = {
        untouched_arguments: writing,
        bfloat16_arithmetic: single,
        tensorfloat32_arithmetic: single,
        single_arithmetic: double,
    }
    return [
        pytest.param(problem, lie, id=f"{lie.__name__}-{problem.name}")
        for problem in PROBLEMS
        for lie in LIES
        if problem in told_of.get(lie, PROBLEMS)
    ]


@pytest.mark.parametrize(("problem", "lie"), lies_that_can_be_told())
def test_a_lie_is_rejected_by_some_case_and_by_a_smoke_case_where_one_can_tell(
    problem: ProblemDefinition, lie: Lie
) -> None:
    skip_where_it_cannot_be_rejected(problem, lie)
    told = [(case, answers) for case in quick_cases(problem) if (answers := lie(problem, case)) is not None]
    if not told:
        pytest.skip(f"{problem.name} has no case on which this can be tried")
    caught = [case for case, answers in told if not accepted(problem, case, answers)]
    assert caught != []
    if any(case.tier is Tier.SMOKE for case, _ in told):
        assert Tier.SMOKE in {case.tier for case in caught}


Mistake: TypeAlias = Callable[[ProblemDefinition, Case], Outputs | None]


def nan_dropped(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """Eager's answer where every NaN of the inputs is taken for 0."""
    return on_changed_inputs(problem, case, torch.isnan, 0.0)


def infinities_clamped(problem: ProblemDefinition, case: Case) -> Outputs | None:
    """Eager's answer where every infinity of the inputs is taken for the largest finite number."""
    arguments = inputs(problem, case)
    if not any(bool(value.isinf().any()) for value in floats_of(arguments)):
        return None
    clamped = each_tensor(
        arguments, lambda x: x.nan_to_num(nan=math.nan) if x.is_floating_point() or x.is_complex() else x
    )
    return eager_outputs(problem, clamped)


def on_changed_inputs(
    problem: ProblemDefinition, case: Case, chosen: Callable[[torch.Tensor], torch.Tensor], value: float
) -> Outputs | None:
    arguments = inputs(problem, case)
    if not any(bool(chosen(tensor).any()) for tensor in floats_of(arguments)):
        return None
    changed = each_tensor(
        arguments, lambda x: x.masked_fill(chosen(x), value) if x.is_floating_point() or x.is_complex() else x
    )
    return eager_outputs(problem, changed)


def floats_of(arguments: tuple[object, ...]) -> list[torch.Tensor]:
    return [tensor for tensor in tensors_in(arguments) if tensor.is_floating_point() or tensor.is_complex()]


@pytest.mark.parametrize("mistake", [nan_dropped, infinities_clamped])
@pytest.mark.parametrize("problem", NONFINITE, ids=lambda problem: problem.name)
def test_a_kernel_that_changes_nonfinite_inputs_is_rejected(problem: ProblemDefinition, mistake: Mistake) -> None:
    skip_where_it_cannot_be_rejected(problem, mistake)
    tried = [(case, answers) for case in quick_cases(problem) if (answers := mistake(problem, case)) is not None]
    assert [case.name for case, answers in tried if not accepted(problem, case, answers)] != []


@pytest.mark.parametrize("problem", STRIDED, ids=lambda problem: problem.name)
def test_every_tensor_argument_is_strided_and_offset_in_some_case(problem: ProblemDefinition) -> None:
    irregular: set[str] = set()
    for case in quick_cases(problem):
        for name, value in zip(problem.arguments, inputs(problem, case), strict=True):
            if any(tensor.storage_offset() and 1 not in tensor.stride() for tensor in tensors_in((value,))):
                irregular.add(name)
    assert set(tensor_arguments(problem)) - irregular == set()


@pytest.mark.parametrize("problem", ATEN, ids=lambda problem: problem.name)
def test_rank_five_occurs_where_any_rank_is_allowed(problem: ProblemDefinition) -> None:
    described = Catalogue().describe(problem.name)
    ranks = {tensor.dim() for case in quick_cases(problem) for tensor in tensors_in(inputs(problem, case))}
    assert (5 in ranks) is ("any rank" in described.contract.lower())


@pytest.mark.parametrize("name", ["sum", "cumsum"])
def test_sums_in_half_precision_are_rejected_in_both_half_types(name: str) -> None:
    problem = definitions()[f"aten::{name}"]
    for dtype in (DType.FLOAT16, DType.BFLOAT16):
        detours = [case for case in problem.cases if case.dtype is dtype and case.params.get("values") == "detour"]
        for case in detours:
            x, wanted = inputs(problem, case)[0], expected_outputs(problem, case)[0]
            assert isinstance(x, torch.Tensor)
            running, steps = torch.zeros_like(x[:, 0]), []
            for column in x.unbind(1):
                running = running + column
                steps.append(running)
            answer = running if name == "sum" else torch.stack(steps, 1)
            assert not accepted(problem, case, (answer.to(wanted.dtype),))
        assert detours != []


@pytest.mark.parametrize(
    ("problem", "name"), [pytest.param(one, name, id=f"{one.name} {name}") for one in PROBLEMS for name in one.mutates]
)
def test_an_answer_in_a_private_copy_is_rejected(problem: ProblemDefinition, name: str) -> None:
    rejected = {}
    for case in quick_cases(problem):
        by_name = dict(zip(problem.arguments, inputs(problem, case), strict=True))
        written = by_name[name]
        if isinstance(written, torch.Tensor) and not written.is_contiguous():
            there = [other for other in problem.mutates if by_name[other] is not None]
            wanted = expected_outputs(problem, case)[problem.returns + there.index(name)]
            rejected[case.name] = not within(problem.tolerance(case), written, wanted)
    if not rejected:
        pytest.skip(f"no case of {problem.name} has a {name} that is not contiguous")
    assert any(rejected.values())


def quick_cases(problem: ProblemDefinition) -> list[Case]:
    return [case for case in problem.cases if case.tier in QUICK_TIERS]


def inputs(problem: ProblemDefinition, case: Case, seed: int = SEED) -> tuple[object, ...]:
    """Fresh arguments: nothing that an earlier caller did to its own shows in them."""
    return tuple(problem.make_inputs(case, torch.Generator().manual_seed(seed)))


def expected_outputs(problem: ProblemDefinition, case: Case, seed: int = SEED) -> Outputs:
    return _expected(problem, case.name, seed)


@functools.lru_cache(maxsize=512)  # the tests of one problem follow each other, and a problem has some 60 cases
def _expected(problem: ProblemDefinition, case_name: str, seed: int) -> Outputs:
    return as_tuple(problem.reference(*inputs(problem, problem.case(case_name), seed)))


def eager_outputs(problem: ProblemDefinition, arguments: tuple[object, ...]) -> Outputs:
    """What eager returns, then what it leaves in the arguments that it writes and that are there."""
    returned = as_tuple(problem.eager(*arguments))
    assert problem.returns is None or len(returned) == problem.returns
    by_name = dict(zip(problem.arguments, arguments, strict=True))
    written = tensors_in(by_name[name] for name in problem.mutates)
    return (*returned, *written)


def accepted(problem: ProblemDefinition, case: Case, got: Outputs) -> bool:
    wanted = expected_outputs(problem, case)
    tolerance = problem.tolerance(case)
    assert form_of(got) == form_of(wanted), f"{problem.name}, {case.name}"
    if problem.compare is not None:
        called = CalledCase(case=case, arguments=inputs(problem, case), outputs=got, expected=wanted)
        return not any(bool(match.wrong.any()) for match in problem.compare(called))
    return all(within(tolerance, *pair) for pair in zip(got, wanted, strict=True))


def within(tolerance: Tolerance, got: torch.Tensor, wanted: torch.Tensor) -> bool:
    got, wanted = widened(got), widened(wanted)
    finite = wanted.isfinite()
    if not same_values(got[~finite], wanted[~finite]):
        return False
    scale = wanted[finite].abs().square().mean().sqrt().nan_to_num()
    allowed = tolerance.relative * wanted[finite].abs() + tolerance.absolute * scale
    return bool(((got[finite] - wanted[finite]).abs() <= allowed).all())


def widened(x: torch.Tensor) -> torch.Tensor:
    """The same values in float64 or complex128."""
    return x.to(torch.complex128 if x.is_complex() else torch.float64)


def truncated_to(answer: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """`answer` in the dtype of `wanted`, cut off where hardware would round."""
    if answer.dtype == wanted.dtype:
        return answer
    if wanted.dtype == torch.bfloat16:
        return (answer.contiguous().view(torch.int32) & ~0xFFFF).view(torch.float32).bfloat16()
    rounded = answer.half()
    is_above = (rounded.float().abs() > answer.abs()) & rounded.isfinite()  # what overflows is inf nevertheless
    return torch.where(is_above, torch.nextafter(rounded, torch.zeros_like(rounded)), rounded)


def each_tensor(arguments: tuple[object, ...], changed: Callable[[torch.Tensor], torch.Tensor]) -> tuple[object, ...]:
    def change(value: object) -> object:
        if isinstance(value, list):
            return [change(item) for item in value]
        if isinstance(value, PointerArray):
            return PointerArray(tensors=tuple(map(changed, value.tensors)))
        return changed(value) if isinstance(value, torch.Tensor) else value

    return tuple(change(value) for value in arguments)


def tensors_in(values: Iterable[object]) -> list[torch.Tensor]:
    """The tensors among these values and in lists and pointer arrays among them, in order."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += tensors_in(value)
        elif isinstance(value, PointerArray):
            found += dict.fromkeys(value.tensors)  # one tensor may be pointed at more than once
    return found


def skip_where_it_cannot_be_rejected(problem: ProblemDefinition, lie: Lie) -> None:
    """Skip the test with the reason that the problem gives."""
    if lie.__name__ in problem.cannot_reject:
        pytest.skip(f"{problem.name}: {problem.cannot_reject[lie.__name__]}")


def same_values(left: object, right: object) -> bool:
    """Equal element for element, NaN to NaN."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return form_of((left,)) == form_of((right,)) and bool(
            ((left == right) | (left != left) & (right != right)).all()
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same_values, left, right))
    if isinstance(left, PointerArray) and isinstance(right, PointerArray):
        return same_values(left.tensors, right.tensors)
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    return left == right


def form_of(outputs: Outputs) -> list[tuple[tuple[int, ...], torch.dtype]]:
    return [(tuple(output.shape), output.dtype) for output in outputs]


def as_tuple(outputs: Returned) -> Outputs:
    """What an entry or a reference returned as tensors; a number is a 0-d tensor of its widest dtype."""
    if outputs is None:
        return ()
    if isinstance(outputs, bool | int | float | complex):
        wide = torch.promote_types(torch.tensor(outputs).dtype, torch.float64)
        return (torch.tensor(outputs, dtype=wide if isinstance(outputs, float | complex) else None),)
    return (outputs,) if isinstance(outputs, torch.Tensor) else tuple(outputs)


def bytes_of(values: tuple[object, ...]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(values))


def occupied(value: object) -> TypeGuard[torch.Tensor]:
    return isinstance(value, torch.Tensor) and value.untyped_storage().nbytes() > 0
