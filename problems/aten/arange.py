"""Even steps: y[i] = start + i * step for 0 <= i < ceil((end - start) / step).

start, end and step are numbers; the end is left out, and a step may be negative.  A range in the wrong direction, which
PyTorch rejects, is outside of the contract.  Without a dtype the answer is int64 if start, end and step are all
integers (bool included) and float32 if not.  Integers are exact; floats are start + i * step, computed in float32 or
better (float64 for float64), and rounded to the dtype.  The number of elements is exact for integers, and computed in
float64 for the rest.  Overloads: .start_step is tested; the overloads without start or step compute the same with start
0 and step 1, and so does .out.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, EXACT, F16, F32, FLOATS, Arguments, cases_over, torch, torch_dtype
from problems.kit.factories import FILLS, device_of

_over = partial(cases_over, given=True, step="1", start="0")
_NAME = "{start} to {end} by {step} {dtype}"
_INTEGERS = [DType.INT64, DType.INT32, DType.INT16, DType.UINT8]

CASES = (
    *_over(Tier.SMOKE, _NAME, start="19", end="519", dtype=[F32, DType.INT64]),
    *_over(Tier.SMOKE, _NAME, start="-3", end="47", step="0.25", dtype=F32, given=False),
    *_over(Tier.FULL, _NAME, end=["0", "1", "127", "128", "129", "4099"], dtype=[F32, DType.INT64]),
    *_over(Tier.FULL, f"{_NAME} by default", end=["100", "100.5"], dtype=F32, step="0.5", given=False),
    *_over(Tier.FULL, f"{_NAME} by default", start=["0", "0.5"], end="10.5", dtype=F32, given=False),
    *_over(Tier.FULL, f"{_NAME} by default", start="7", end="100", step=["1", "3"], dtype=DType.INT64, given=False),
    *_over(Tier.FULL, _NAME, start="0", end="1", step=["0.1", "0.3", "0.125", "2"], dtype=[F32, DType.FLOAT64]),
    *_over(Tier.FULL, _NAME, start="5", end="-5", step=["-1", "-3", "-0.7"], dtype=[F32, F16]),
    *_over(Tier.FULL, _NAME, start="-100", end="100", step=["2", "5", "7"], dtype=[*FLOATS, DType.INT64, DType.INT8]),
    *_over(Tier.FULL, _NAME, start="3", end="120", step="4", dtype=_INTEGERS),
    *_over(Tier.FULL, _NAME, start="9007199254740993", end="9007199254741993", step="3", dtype=DType.INT64),
    *_over(Tier.FULL, _NAME, start="-5", end="2199023255552", step="4294967297", dtype=DType.INT64),
    *_over(Tier.FULL, _NAME, start="0.5", end="1000.5", step="1", dtype=FLOATS),
    *_over(Tier.FULL, _NAME, start="0.5", end="2600.5", step="0.5", dtype=[F32, DType.FLOAT64]),
    *_over(Tier.BENCH, _NAME, end="16777216", dtype=[F32, DType.INT64]),
    *_over(Tier.BENCH, _NAME, end="1000000", step="5", dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """start, end, step, dtype or None, device."""
    start, end, step = _numbers(case)
    return start, end, step, torch_dtype(case.dtype) if case.claim("given") else None, device_of(rng)


def _numbers(case: Case) -> tuple[float, float, float]:
    return _number(case.word("start")), _number(case.word("end")), _number(case.word("step"))


def _number(word: str) -> float:
    return float(word) if "." in word else int(word)


def reference(
    start: float, end: float, step: float = 1, dtype: torch.dtype | None = None, device: str | None = None
) -> torch.Tensor:
    """1-D; Python's numbers, which are exact for integers and float64 for the rest."""
    whole = all(isinstance(value, int) for value in (start, end, step))
    wanted = dtype or (torch.int64 if whole else torch.float32)
    values = [start + number * step for number in range(_length(start, end, step))]
    wide = torch.float64 if wanted.is_floating_point else torch.int64
    return torch.tensor(values, dtype=wide, device=device).to(wanted)


def _length(start: float, end: float, step: float) -> int:
    if all(isinstance(value, int) for value in (start, end, step)):
        return len(range(int(start), int(end), int(step)))
    return max(math.ceil((end - start) / step), 0)


def eager(
    start: float, end: float, step: float = 1, dtype: torch.dtype | None = None, device: str | None = None
) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.arange(start, end, step, dtype=dtype, device=device)


def tolerance(case: Case) -> Tolerance:
    """Integers are exact; floats may have the errors of one multiplication and addition in float32, and one rounding.

    float64 requires its own precision. Both errors are relative to the ends of the range, at most twice a typical
    element.
    """
    if case.dtype.epsilon == 0.0:
        return EXACT
    return Tolerance(relative=2 * case.dtype.epsilon, absolute=2 * case.dtype.epsilon)


def cost(case: Case) -> Cost:
    """Nothing is read; every element is written once."""
    length = _length(*_numbers(case))
    return Cost(flops=length, bytes_read=0, bytes_written=length * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="aten::arange",
    entry="arange",
    signature=(
        "arange(start: float, end: float, step: float = 1, dtype: DType | None = None, device: str | None = None) "
        "-> Tensor"
    ),
    summary="Evenly stepped 1-D range",
    category=Category.FACTORY,
    second_oracle="PyTorch's arange, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    framework=FILLS,
    determinism=Determinism.ROUNDING,
    cannot_reject=dict.fromkeys(
        ("answer_to_other_inputs", "bfloat16_arithmetic", "tensorfloat32_arithmetic", "single_arithmetic"),
        "no argument is a tensor",
    ),
)
