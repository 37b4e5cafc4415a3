"""Cases from lists of sizes, dtypes and options, so that a problem is written as a table."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.model import Case, DType, Parameter, Tier

if TYPE_CHECKING:
    from engine.model import Arguments as Arguments
else:
    Arguments = tuple  # the real alias names torch types, which do not exist at run time

F32, F16, BF16 = DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16
FLOATS = [F32, F16, BF16]
INTEGERS = [DType.INT32, DType.INT64, DType.INT16, DType.INT8, DType.UINT8]
WHOLE = [*INTEGERS, DType.BOOL]
_MOST_DIMENSIONS = 6


def cases_over(
    tier: Tier, label: str, *, dtype: DType | list[DType], **axes: Parameter | Sequence[Parameter]
) -> tuple[Case, ...]:
    """One case for every combination of the lists among `dtype` and `axes`; the dtype varies slowest.

    Values other than lists are the same in all cases.  `label` names the cases: "{shape} {dtype} {layout}" becomes
    "64x781 bf16 transposed"; every varying axis must occur in it.

    Raises:
        ValueError: two values of an axis give the same label.
    """
    choices = {"dtype": dtype, **axes}
    lists = {name: value if isinstance(value, list) else [value] for name, value in choices.items()}
    named = [name for name in lists if f"{{{name}}}" in label]
    for name, values in lists.items():
        if len(values) > 1 and name not in named:
            raise ValueError(f"the label {label!r} does not name {name!r}, which has {len(values)} values")
    cases = []
    for combination in itertools.product(*lists.values()):
        params = dict(zip(lists, combination, strict=True))
        name = label.format(**{key: _spelled(key, params[key]) for key in named})
        chosen = DType(params.pop("dtype"))
        cases.append(Case(name=name, dtype=chosen, tier=tier, params=params))
    return tuple(cases)


def result_dtype(case: Case) -> DType:
    """The dtype of the output of an operator with an optional `dtype`: the parameter `result`, "same" or a dtype."""
    result = case.word("result")
    return case.dtype if result == "same" else DType(result)


def _spelled(axis: str, value: Parameter) -> str:
    """A value as shown in a case name: (64, 781) is 64x781, but 64,781 for `dims`; DType.BFLOAT16 is bf16.

    Equal numbers, more of them than a shape has dimensions, are counted: sixteen times 1024 is "16 of 1024".
    """
    if isinstance(value, DType):
        return value.short
    if isinstance(value, tuple) and len(value) > _MOST_DIMENSIONS and len(set(value)) == 1:
        return f"{len(value)} of {value[0]}"
    if isinstance(value, tuple):
        return ("," if axis == "dims" else "x").join(map(str, value)) or "scalar"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else str(value)
