"""The scalars of a BLAS case: Python floats, or complex numbers if the elements are complex.

Case parameters have no complex type, so a complex scalar is written as text: "0.5+0.25j".
"""

from __future__ import annotations

from engine.model import Case, DType

COMPLEX_DTYPES = (DType.COMPLEX64, DType.COMPLEX128)


def scalar_parameter(dtype: DType, real: float, imaginary: float = 0.0) -> float | str:
    """The case parameter for a scalar of this dtype; a scalar with imaginary part 0 is written without it."""
    return f"{real:g}{imaginary:+g}j" if dtype in COMPLEX_DTYPES else real


def scalar_of(case: Case, name: str) -> float | complex:
    """The scalar in the case parameter `name`."""
    return complex(case.word(name)) if case.dtype in COMPLEX_DTYPES else case.number(name)


def parts_of(dtype: DType) -> int:
    """Number of real numbers in an element: 2 if it is complex."""
    return 2 if dtype in COMPLEX_DTYPES else 1
