"""Names at the top level of a text, by which the block with the entry of an answer is chosen."""

from __future__ import annotations

import pytest

from engine.static.fenced import defined_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(): pass", {"f"}),
        ("async def f(): pass", {"f"}),
        ("class F: pass", {"F"}),
        ("f = g = kernel", {"f", "g"}),
        ("f, (g, *h) = kernels", {"f", "g", "h"}),
        ("f: Callable = kernel", {"f"}),
        ("f: Callable", set()),
        ("x.f = y[0] = kernel", set()),
        ("if x:\n    def f(): pass", set()),
        ("def f(:", set()),
    ],
)
def test_names_at_top_level_are_found(text: str, names: set[str]) -> None:
    assert defined_names(text) == names
