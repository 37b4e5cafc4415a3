"""Values of `get_inputs` and `get_init_inputs` as positional arguments.

KernelBench specifies lists. Forks of it return tuples, generators, one tensor, a dict by parameter name, or for the
constructor a list and a dict of keyword arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from engine.reference.harness import UnavailableError


def forward_arguments(model: type[torch.nn.Module], made: object) -> tuple[Any, ...]:  # Any: inputs of every kind
    """The inputs of `forward`, from the result of `get_inputs`.

    Raises:
        UnavailableError: it has an input that is keyword-only in forward, or not a parameter of forward.
    """
    if isinstance(made, Mapping):
        return _by_position(model.forward, (None,), made)[1:]
    return _items(made)


def constructor_arguments(model: type[torch.nn.Module], made: object) -> tuple[Any, ...]:  # Any: as above
    """The constructor arguments of the class, from the result of `get_init_inputs`; empty for None.

    Raises:
        UnavailableError: an argument is keyword-only.
    """
    if made is None:
        return ()
    if isinstance(made, Mapping):
        return _by_position(model, (), made)
    items = _items(made)
    match items:
        case [list() | tuple() as given, dict() as named]:
            return _by_position(model, given, named)
    return items


def plain(value: Any) -> Any:  # Any: a value of every kind
    """A numpy scalar as a Python number; any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _items(made: object) -> tuple[Any, ...]:  # Any: as above
    """The items of a list, a tuple or a generator; a tensor, a text or a number is a single item."""
    if isinstance(made, Iterable) and not isinstance(made, torch.Tensor | str | bytes):
        return tuple(plain(item) for item in made)
    return (plain(made),)


def _by_position(
    function: Callable[..., Any], given: Sequence[Any], named: Mapping[Any, Any]
) -> tuple[Any, ...]:  # Any: as above
    """The arguments in positional form.

    Raises:
        UnavailableError: the function does not accept them, or one of them is keyword-only.
    """
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except (TypeError, ValueError) as error:
        raise UnavailableError(f"its inputs do not fit its Model: {error}") from error
    if bound.kwargs:
        names = ", ".join(bound.kwargs)
        raise UnavailableError(f"its inputs {names} can be given by name only, and a candidate gets them by position")
    return tuple(map(plain, bound.args))
