"""Finds work of a task that a kernel can omit because the answer does not depend on it.

Two kinds are found by changing one tensor at a time and running the reference: a tensor without influence, such as a
bias before a normalisation, and a weight that influences the answer only through its mean over a dimension, such as
that of a product whose result is summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from engine.model import Case, PlainObject
from engine.model.problems.health import Defect, Weakness
from problems.kit import torch
from problems.rules.trial import OTHER_SEED, Trial
from problems.rules.values import as_tuple, form_of, has_fractions, same_values

if TYPE_CHECKING:
    from engine.model import Arguments, Value

    Change: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
    Place: TypeAlias = tuple[int | str, ...]

_STATE = "module_state"
NO_TENSORS_OF_CALL = ("init_inputs", "weight_seed", "call_options")
# Statistics that a module stores for evaluation; in training they are written and not read.
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
_MOST_TENSORS = 64


def short_cuts(trial: Trial) -> Iterator[Weakness]:
    """A weakness for each tensor that in every case has no influence, or influences only through a mean."""
    if not trial.cases or trial.problem.mutates:
        return
    tensors = list(_tensors(trial, trial.cases[0]))[:_MOST_TENSORS]
    for name, place, is_weight in tensors:
        if _is_void(trial, place, None):
            yield _weakness(f"{name} has no influence on the answer: a kernel that ignores it passes")
        elif is_weight:
            yield from _collapses(trial, name, place)


def _collapses(trial: Trial, name: str, place: Place) -> Iterator[Weakness]:
    """The first dimension of a weight over which only its mean influences the answer."""
    weight = _at(trial.given(trial.cases[0]), place)
    for dimension, size in enumerate(weight.shape):
        if weight.dim() > 1 and size > 1 and _is_void(trial, place, partial(_mean_over, dimension=dimension)):
            text = f"only the mean of {name} over dimension {dimension} has influence on the answer"
            yield _weakness(f"{text}: a kernel that computes with that alone passes")
            return


def _weakness(text: str) -> Weakness:
    return Weakness(defect=Defect.SHORT_CUT, text=text)


def _mean_over(weight: torch.Tensor, *, dimension: int) -> torch.Tensor:
    return weight.mean(dimension, keepdim=True).expand_as(weight).contiguous()


def _is_void(trial: Trial, place: Place, change: Change | None) -> bool:
    """Whether the answer stays right in every case if a tensor is changed, or redrawn if `change` is None."""
    return all(_stays_right(trial, case, place, change) for case in trial.cases)


def _stays_right(trial: Trial, case: Case, place: Place, change: Change | None) -> bool:
    given = trial.given(case)
    old = _at(given, place)
    new = change(old) if change is not None else _at(trial.given(case, OTHER_SEED), place)
    if form_of((new,)) != form_of((old,)) or same_values(new, old):
        return False  # the value did not change, so the test has no result
    answer = as_tuple(trial.problem.reference(*_put(trial.copies(case), place, new)))
    return form_of(answer) == form_of(trial.expected(case)) and trial.accepts(case, answer)


def _tensors(trial: Trial, case: Case) -> Iterator[tuple[str, Place, bool]]:
    """Name and path of each tensor of a call, and whether it is a floating-point weight of a module."""
    for index, (argument, value) in enumerate(zip(trial.problem.arguments, trial.given(case), strict=True)):
        if argument in NO_TENSORS_OF_CALL:
            continue
        for name, place, tensor in _inside(value, argument, (index,)):
            if name.rpartition(".")[2] not in _STATISTICS:
                yield name, place, argument == _STATE and has_fractions(tensor)


def _inside(value: object, name: str, place: Place) -> Iterator[tuple[str, Place, torch.Tensor]]:
    """The tensors in a value; in a pair (str, value) the text names the value, as for weights of a module."""
    if isinstance(value, torch.Tensor):
        yield name, place, value
    elif isinstance(value, list | tuple):
        is_named = len(value) == 2 and isinstance(value[0], str)
        for index, item in enumerate(value):
            inner = str(value[0]) if is_named else name if name == _STATE else f"{name}[{index}]"
            yield from _inside(item, inner, (*place, index))
    elif isinstance(value, PlainObject):
        for key, item in value.attributes.items():
            yield from _inside(item, f"{name}.{key}", (*place, key))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _inside(item, f"{name}[{key!r}]", (*place, key))


def _at(arguments: Arguments, place: Place) -> torch.Tensor:
    found: Any = arguments  # Any: nested values, by numbers and keys
    for index in place:
        parts: Any = found.attributes if isinstance(found, PlainObject) else found  # Any: as above
        found = parts[index]
    assert isinstance(found, torch.Tensor)
    return found


def _put(arguments: Arguments, place: Place, tensor: torch.Tensor) -> Arguments:
    """The arguments with this tensor at the given path."""
    found: Arguments = _replaced(arguments, place, tensor)  # type: ignore[assignment]  # of the form of `arguments`
    return found


def _replaced(value: object, place: Place, tensor: torch.Tensor) -> object:
    if not place:
        return tensor
    if isinstance(value, PlainObject):
        attributes = cast("dict[str, Value]", _replaced(value.attributes, place, tensor))
        return replace(value, attributes=attributes)
    if isinstance(value, dict):
        return {key: _replaced(item, place[1:], tensor) if key == place[0] else item for key, item in value.items()}
    assert isinstance(value, list | tuple)
    items = [_replaced(item, place[1:], tensor) if index == place[0] else item for index, item in enumerate(value)]
    return items if isinstance(value, list) else tuple(items)
