"""Atomic operations: programs perform them one after the other, in the order of the launch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.errors import WaitError
from engine.machine.frame import Frame, Handler, Step, Update, as_array
from engine.machine.ir import Scalar, Type
from engine.machine.numerics import Array, decode, dtype_of, encode, is_coded, unsigned
from engine.machine.operations.floats import maximum_number, minimum_number
from engine.machine.values import Val, full, scalar_of, shape_of

_INTEGERS: dict[str, np.ufunc] = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
}
_UNSIGNED: dict[str, np.ufunc] = {"umax": np.maximum, "umin": np.minimum}
_FLOATS: dict[str, Callable[[Array, Array], Array]] = {
    "fadd": np.add,
    "add": np.add,
    "max": maximum_number,
    "min": minimum_number,
}


def update_of(step: Step, kind: str, scalar: Scalar, operands: tuple[Array, ...], *, needs_old: bool) -> Update:
    """The update of a kind; sums of several programs round after each, in the order of programs.

    Raises:
        UnsupportedError: there is no such operation on these elements.
    """
    if kind in ("exch", "xchg"):
        return Update(operands=operands, apply=lambda old, new: new, shortcut=None, needs_old=needs_old)
    if scalar.is_float:
        if kind not in _FLOATS:
            raise UnsupportedError(f"an atomic {kind} of {scalar.value}")
        compute = _FLOATS[kind]
        in_place = _in_place(np.add) if compute is np.add and not is_coded(scalar) else None
        return Update(operands=operands, apply=_on_floats(scalar, compute), shortcut=in_place, needs_old=needs_old)
    if kind in _UNSIGNED:
        function = _UNSIGNED[kind]

        def apply(old: Array, new: Array) -> Array:
            result: Array = function(unsigned(old), unsigned(new))
            return result

        return Update(operands=operands, apply=apply, shortcut=None, needs_old=needs_old)
    if kind not in _INTEGERS:
        raise UnsupportedError(f"an atomic {kind} of {scalar.value}")
    ufunc = _INTEGERS[kind]
    return Update(operands=operands, apply=ufunc, shortcut=_in_place(ufunc), needs_old=needs_old)


def _on_floats(scalar: Scalar, compute: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def apply(old: Array, new: Array) -> Array:
        return encode(scalar, compute(decode(scalar, old), decode(scalar, new)))

    return apply


def _in_place(ufunc: np.ufunc) -> Callable[[Array, Array, tuple[Array, ...]], None]:
    """An update of one element after the other, as `ufunc.at` does."""

    def update(view: Array, index: Array, operands: tuple[Array, ...]) -> None:
        ufunc.at(view, index, operands[0])

    return update


def _read_modify_write(frame: Frame, step: Step, operands: list[Val]) -> Val:
    operation = step.operation
    kind = operation.operands[1].type
    values = full(as_array(operands[1]), shape_of(kind))
    mask = as_array(operands[2]) if len(operands) > 2 else None
    needs_old = operation.results[0].index not in step.dead
    update = update_of(step, str(operation.attributes["kind"]), scalar_of(kind), (values,), needs_old=needs_old)
    return frame.services.memory.update(frame, step, operands[0], update, mask)


def _compare_and_swap(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """Compare bits, so that -0 is not 0 and a NaN equals itself."""
    shape = shape_of(step.operation.operands[1].type)
    expected, desired = (full(as_array(operand), shape) for operand in operands[1:3])

    def apply(old: Array, expected: Array, desired: Array) -> Array:
        return np.where(unsigned(old) == unsigned(expected), desired, old)

    update = Update(operands=(expected, desired), apply=apply, shortcut=None, needs_old=True)
    return frame.services.memory.update(frame, step, operands[0], update, None)


def _load(frame: Frame, step: Step, operands: list[Val]) -> Val:
    mask = as_array(operands[1]) if len(operands) > 1 else None
    return _values_of(frame, step, operands[0], step.operation.results[0].type, mask)


def _values_of(frame: Frame, step: Step, pointers: Val, kind: Type, mask: Array | None) -> Array:
    """The elements of this type at `pointers`, read atomically."""
    like = full(np.zeros((1,) * (1 + len(shape_of(kind))), dtype_of(scalar_of(kind))), shape_of(kind))
    update = Update(operands=(like,), apply=lambda old, new: old, shortcut=None, needs_old=True, writes=False)
    return frame.services.memory.update(frame, step, pointers, update, mask)


def _store(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    values = full(as_array(operands[1]), shape_of(step.operation.operands[1].type))
    mask = as_array(operands[2]) if len(operands) > 2 else None
    update = Update(operands=(values,), apply=lambda old, new: new, shortcut=None, needs_old=False, reads=False)
    frame.services.memory.update(frame, step, operands[0], update, mask)
    return ()


def _poll(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """Whether each element has the expected value; memory does not change while a program waits."""
    kind = step.operation.operands[1].type
    matches = _values_of(frame, step, operands[0], kind, None) == full(as_array(operands[1]), shape_of(kind))
    if len(operands) < 3 and not matches.all():
        raise WaitError("it waits for a program that runs later; programs run one after the other")
    return np.asarray(matches)


OPERATIONS: dict[str, Handler] = {
    "tt.atomic_load": _load,
    "tt.atomic_store": _store,
    "tt.atomic_poll": _poll,
    "tt.atomic_rmw": _read_modify_write,
    "tt.atomic_cas": _compare_and_swap,
}
