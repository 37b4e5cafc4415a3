"""Values that a kernel may have used in place of an argument that is not a tensor.

Each is one slip: a letter that is compared with the wrong one, a factor that divides, an imaginary part that is
ignored, a size in place of another.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments, Value

_LETTERS = {"trans": ("T", "N"), "uplo": ("L", "U"), "diag": ("N", "U"), "side": ("L", "R")}
"""By the beginning of the name, letters of BLAS."""
_TRANSPOSITIONS = ("N", "T", "C")
_EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12)  # values often hard-coded in place of the argument


def other_values(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[tuple[Value, str]]:
    """Other values of the argument at this position, each once and in words."""
    name, given = problem.arguments[place], inputs[place]
    seen: list[Value] = [given]
    for other, words in (*_of_type(name, given, inputs), *_absent(problem, name, given)):
        if other not in seen:
            seen.append(other)
            yield other, words


def _of_type(name: str, given: Value, inputs: Arguments) -> Iterator[tuple[Value, str]]:
    if isinstance(given, str):
        yield from ((letter, letter) for letter in _letters(name, given))
    elif isinstance(given, bool):
        yield not given, str(not given)
    elif isinstance(given, int):
        sizes = {value for value in inputs if isinstance(value, int) and not isinstance(value, bool)}
        yield from ((other, str(other)) for other in (-1, 0, 1, -given, *sorted(sizes)))
    elif isinstance(given, float):
        yield from ((other, str(other)) for other in (1.0, 0.0, -given, math.modf(given)[1]))
        if given:
            yield 1.0 / given, f"1 / {name} ({1.0 / given:g})"
        if name.startswith("eps"):
            yield from ((epsilon, str(epsilon)) for epsilon in _EPSILONS)
    elif isinstance(given, complex):
        yield complex(given.real), f"its real part ({given.real:g})"
        yield given.conjugate(), f"its conjugate ({given.conjugate()})"


def _letters(name: str, given: str) -> Sequence[str]:
    known = next((letters for begin, letters in _LETTERS.items() if name.startswith(begin)), ())
    return known or (("T", "N") if given in _TRANSPOSITIONS else ())


def _absent(problem: ProblemDefinition, name: str, given: Value) -> Iterator[tuple[Value, str]]:
    """None in place of an optional string or number."""
    if given is not None and re.search(rf"\b{name}: [^,]*\bNone\b", problem.signature):
        yield None, "None"
