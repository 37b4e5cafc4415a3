"""Performance files as text: which of them give cases for timing."""

from __future__ import annotations

import pytest

from problems.suites.texts.performance import FIRST, LAST, benchmarks

TEXT = """
class performance_metrics(Performance_Metrics):
    def get_input_tensors(self): ...
    def to_cuda(self, x): ...
    def call_op(self, x):
        return f(x, training=TRAINING)
"""


@pytest.mark.parametrize(
    ("text", "is_random", "cases"),
    [
        (TEXT, False, (FIRST, LAST)),
        (TEXT.replace("TRAINING", "False"), True, (FIRST, LAST)),
        (TEXT.replace("TRAINING", "True"), True, ()),
        (TEXT.replace("f(", "g("), False, ()),
        (TEXT.replace("to_cuda", "move"), False, ()),
        ("class (", False, ()),
    ],
    ids=["calls", "random forbidden", "random", "another operator", "incomplete", "no Python"],
)
def test_cases_of_a_performance_file(text: str, is_random: bool, cases: tuple[str, ...]) -> None:
    assert benchmarks(text, "f", is_random=is_random) == cases
