"""Calls of a candidate's entry: a function directly, a module class after construction with its weights.

The arguments of a MODULE problem are the inputs, then the arguments of the class, its parameters and buffers as pairs
of name and tensor, the seed of its weights (0-d int64), and options: "packed" if the inputs are one tuple.  A class is
constructed under the seed of the reference, so that values its constructor derives from weights are right if it creates
them in the same order; then parameters and buffers get the reference's values by name.

A CALL problem has two arguments: positional ones as a tuple, and pairs of name and value.  A third one has those of
their tensors that the reference writes in place, for the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import torch

from engine.clock.binding import BindingEntry
from engine.loading.modules import disable_dropout, give_state
from engine.model.problems.form import CandidateForm
from engine.model.problems.suite_origin import FP4

Entry: TypeAlias = Callable[..., Any]  # Any: an untrusted function


def entry_of(found: Entry, form: CandidateForm, *, fp4: Sequence[int] = ()) -> Entry:
    """The entry to call with the arguments of a case; those at the positions `fp4` are bytes of fp4 values."""
    if fp4:
        return Fp4Entry(found, fp4)
    if form is CandidateForm.CALL:
        return lambda args, kwargs, _written=(): _without_nesting(found(*args, **dict(kwargs)))
    return ModuleEntry(found) if form is CandidateForm.MODULE else found


class Fp4Entry(BindingEntry):
    """A function with arguments of fp4, which are bytes everywhere else."""

    def __init__(self, found: Entry, places: Sequence[int]) -> None:
        self._function, self._places = found, places

    def bind(self, arguments: Sequence[Any]) -> Callable[[], Any]:
        """The call on views of the arguments in torch's type for fp4."""
        given = list(arguments)
        for place in self._places:
            given[place] = given[place].view(getattr(torch, FP4))
        return partial(self._function, *given)


_PACKED = "packed"


class ModuleEntry(BindingEntry):
    """A class of torch.nn.Module as an entry."""

    def __init__(self, found: Entry) -> None:
        self._class = found

    def bind(self, arguments: Sequence[Any]) -> Callable[[], Any]:
        """The call of a new module on the inputs.

        Raises:
            TypeError: the class is not a torch.nn.Module.
            BaseException: any exception of its constructor.
        """
        *inputs, initial, state, weight_seed, options = arguments
        if _PACKED in options:
            inputs = list(inputs[0])
        random_state = torch.get_rng_state()
        torch.manual_seed(int(weight_seed))
        module = self._class(*initial)
        torch.set_rng_state(random_state)  # otherwise it looks like random numbers of the candidate
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"{self._class.__name__} is not a subclass of torch.nn.Module; derive it from that class")
        give_state(module, state, device=weight_seed.device)
        disable_dropout(module)
        return lambda: _without_nesting(module(*inputs))


def _without_nesting(returned: Any) -> Any:  # Any: results of untrusted code
    """The values of nested sequences, and of dicts by key, in one tuple and without None, as references have them."""
    if not isinstance(returned, dict | list | tuple):
        return returned
    flat: list[Any] = []  # Any: as above
    for item in [returned[key] for key in sorted(returned, key=str)] if isinstance(returned, dict) else returned:
        inner = _without_nesting(item)
        flat += inner if isinstance(inner, tuple) else [] if inner is None else [inner]
    return tuple(flat)
