"""Rules on a problem's description and on its inputs.  Each rule yields a sentence for every violation."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from engine.judge.inputs.memory_need import estimated_bytes
from engine.model import Determinism, Tier
from problems.rules.trial import OTHER_SEED, Trial
from problems.rules.values import is_occupied, same_values, settings_of, tensors_in

if TYPE_CHECKING:
    import torch

MOST_ELEMENTS = 130 * 1024
CARD_BYTES = 24 << 30


def formula(trial: Trial) -> Iterator[str]:
    """The first line of the module docstring is a formula."""
    if "=" not in trial.described.formula:
        yield f'the first line of the docstring should be the formula, with "=", is {trial.described.formula!r}'


def description(trial: Trial) -> Iterator[str]:
    """The description that is read from the text of the file equals the values that the module defines."""
    for name in ("name", "entry", "signature", "summary", "category", "second_oracle"):
        said, defined = getattr(trial.described, name), getattr(trial.problem, name)
        if said != defined:
            yield f"{name} is {said!r} in the source, but {defined!r} when the file is run"
    dtypes = {case.dtype for case in trial.problem.cases}
    if set(trial.described.dtypes) != dtypes:
        yield f"the source names the dtypes {_listed(trial.described.dtypes)}, the cases have {_listed(dtypes)}"


def signature(trial: Trial) -> Iterator[str]:
    """The signature has the name of the entry, and annotates its parameters and its result."""
    problem = trial.problem
    definition = ast.parse(f"def {problem.signature}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    bare = problem.name.partition("::")[2]
    if not definition.name == problem.entry == bare:
        yield f"entry {problem.entry!r} and the signature's {definition.name!r} should both be {bare!r}"
    if definition.returns is None:
        yield "the signature has no return annotation"
    for argument in (*definition.args.args, *definition.args.kwonlyargs):
        if argument.annotation is None:
            yield f"the argument {argument.arg} has no annotation"
    if not problem.summary:
        yield "summary is empty; describe the operator in a few words"


def tiers(trial: Trial) -> Iterator[str]:
    """Each tier has cases: 1 to 3 SMOKE, at least 9 FULL, 2 to 5 BENCH."""
    for tier, least, most in ((Tier.SMOKE, 1, 3), (Tier.FULL, 9, None), (Tier.BENCH, 2, 5)):
        count = sum(case.tier is tier for case in trial.problem.cases)
        if count < least or (most is not None and count > most):
            yield f"{count} {tier} cases; there should be {least} to {most or 'any number'}"


def arguments(trial: Trial) -> Iterator[str]:
    """`make_inputs` returns one value for each argument, small enough for the interpreter."""
    for case in trial.cases:
        values = trial.given(case)
        if len(values) != len(trial.problem.arguments):
            yield f"{case.name}: {len(values)} values for {len(trial.problem.arguments)} arguments"
        elements = sum(tensor.numel() for tensor in tensors_in(values))
        if elements > MOST_ELEMENTS:
            yield f"{case.name}: {elements} elements of inputs; a {case.tier} case has at most {MOST_ELEMENTS}"


def card_memory(trial: Trial) -> Iterator[str]:
    """The estimated memory of every case, BENCH included, is at most that of a device with 24 GiB."""
    for case in trial.problem.cases:
        needed = estimated_bytes(trial.problem.cost(case))
        if needed > CARD_BYTES:
            yield f"{case.name}: needs about {needed:,} bytes; a case has at most {CARD_BYTES:,}"


def seeds(trial: Trial) -> Iterator[str]:
    """Inputs are a function of the seed; a single element may be equal by chance, or be set by the case."""
    for case in trial.cases:
        first = trial.given(case)
        if not same_values(first, trial.made(case)):
            yield f"{case.name}: the same seed gives different inputs; draw all randomness from `rng`"
        has_content = all(any(map(is_occupied, some)) for some in (tensors_in(first), trial.expected(case)))
        if settings_of(first) != settings_of(trial.given(case, OTHER_SEED)):
            yield f"{case.name}: numbers, shapes or dtypes depend on the seed; only the content of tensors may"
        is_single = sum(tensor.numel() for tensor in tensors_in(first)) == 1
        if has_content and not is_single and same_values(first, trial.given(case, OTHER_SEED)):
            yield f"{case.name}: another seed gives the same inputs"


def memory(trial: Trial) -> Iterator[str]:
    """No two arguments share memory, and no written argument overlaps itself."""
    for case in trial.cases:
        values = trial.given(case)
        storages = [one.untyped_storage().data_ptr() for one in tensors_in(values) if is_occupied(one)]
        if len(storages) != len(set(storages)):
            yield f"{case.name}: two arguments share memory"
        if any(0 in one.stride() and one.numel() > 1 and _repeats(one) for one in trial.written(values)):
            yield f"{case.name}: an argument that is written overlaps itself"


def _repeats(tensor: torch.Tensor) -> bool:
    """Whether two indices of the tensor refer to the same element in memory."""
    return any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def layouts(trial: Trial) -> Iterator[str]:
    """A parameter called "...layout" differs from "contiguous" exactly if an input is strided or has an offset."""
    for case in trial.cases:
        tensors = tensors_in(trial.given(case))
        unusual = any(not tensor.is_contiguous() or tensor.storage_offset() > 0 for tensor in tensors)
        named = {word for key, word in case.params.items() if key.endswith("layout")} - {"contiguous"}
        if unusual is not bool(named):
            yield f"{case.name}: inputs are {'not ' if unusual else ''}contiguous, but its layout does not match"


def strides(trial: Trial) -> Iterator[str]:
    """Each tensor argument has a storage offset and no stride of 1 in some case; cuBLAS has increments instead."""
    if trial.problem.library == "cublas":
        return
    seen: set[str] = set()
    irregular: set[str] = set()
    for case in trial.cases:
        for name, value in zip(trial.problem.arguments, trial.given(case), strict=True):
            tensors = tensors_in((value,))
            seen |= {name} if any(tensor.dim() for tensor in tensors) else set()
            if any(tensor.storage_offset() and 1 not in tensor.stride() for tensor in tensors):
                irregular.add(name)
    if seen - irregular:
        yield f"no case has {', '.join(sorted(seen - irregular))} with a storage offset and no stride of 1"


def determinism(trial: Trial) -> Iterator[str]:
    """An operator without its own comparer is declared exact if and only if no case has a tolerance."""
    problem = trial.problem
    if problem.compare is not None or not problem.determinism.has_one_answer:
        return
    bounds = [problem.tolerance(case) for case in problem.cases]
    is_exact = all(bound.relative == bound.absolute == 0 for bound in bounds)
    if is_exact is not (problem.determinism is Determinism.EXACT):
        yield f"determinism is {problem.determinism}, and {'no' if is_exact else 'some'} case has a tolerance above 0"


def ranks(trial: Trial) -> Iterator[str]:
    """If the contract says "any rank", cases have each rank from two to five; otherwise none has rank five."""
    if trial.problem.library != "aten":
        return
    seen = {tensor.dim() for case in trial.cases for tensor in tensors_in(trial.given(case))}
    has_five = 5 in seen
    if has_five and not seen >= {2, 3, 4}:
        yield f"cases have tensors of rank {', '.join(map(str, sorted(seen)))}; 2, 3 and 4 should be among them"
    if has_five is not ("any rank" in trial.described.contract.lower()):
        yield f"the docstring should say 'any rank' exactly where a case has rank 5; one has: {has_five}"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, names))) or "none"
