"""Arguments of a taped launch as a kernel takes them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import UnsupportedError
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import Launched, TapedValue
from engine.replay.checks import TapeError


def values_of(step: Launched, kernel: str, names: Sequence[str]) -> tuple[TapedValue, ...]:
    """Arguments of a launch for the parameters of these names.

    Raises:
        TapeError: one of them is missing.
    """
    value_by_name = {argument.name: argument.value for argument in step.arguments}
    missing = [name for name in names if name not in value_by_name]
    if missing:
        raise TapeError(f"a launch of {kernel} without its argument {missing[0]}")
    return tuple(value_by_name[name] for name in names)


def float_of(spec: FloatSpec) -> float:
    """The number of a float argument.

    Raises:
        UnsupportedError: the text is no float.
    """
    try:
        return float.fromhex(spec.hex)
    except (ValueError, OverflowError) as error:
        raise UnsupportedError(f"the number {spec.hex[:40]!r}") from error
