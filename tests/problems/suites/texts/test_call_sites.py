"""Where tests call a function: the names of the cases, and the calls that are left out."""

from __future__ import annotations

import ast

import pytest

from problems.suites.texts.call_sites import call_sites, place_of

TESTS = """
def test_f():
    results = {}
    results["one"] = f(x, dim=1)
    for mode in ("standard", "outlier"):
        for dim in range(3):
            results[mode, dim] = f(x, dim=dim)
    shapes = [(1, 2), (3, 4)]
    results["all"] = [f(make(shape)) for shape in shapes]
    for batch in loader:
        f(batch)
    f(x, inplace=True)
    f(x, out=y)
    f(x, inplace=False, out=None)
    try:
        f(x, "up")
    except ValueError as error:
        results["text"] = str(error)
    g(f)
"""


def test_calls_named_by_line_and_turn() -> None:
    names = call_sites(ast.parse(TESTS), "f").names

    assert names == (
        "line 4",
        *(f"line 7 #{number}" for number in range(1, 7)),
        "line 9 #1",
        "line 9 #2",
        *(f"line {line}" for line in range(11, 15)),
    )


HELPER = """
def run(x, **options):
    return f(x, **options)

def test_f():
    run(a)
    for shape in [(1, 2), (3, 4)]:
        run(make(shape), dim=1)
    f(b)

test_results = test_f()
"""


def test_calls_through_helper_counted_by_its_calls() -> None:
    names = call_sites(ast.parse(HELPER), "f").names
    assert names == ("line 3 #1", "line 3 #2", "line 3 #3", "line 9")


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("    run(a)\n", "    if cuda:\n        run(a)\n"),
        ("    return f(", "    if x.numel():\n        return f("),
        ("    return f(x, **options)", "    return f(run(x), **options)"),
        ("    run(a)\n", "    try:\n        run(a)\n    except ValueError:\n        pass\n"),
    ],
    ids=["conditional call", "conditional in helper", "recursive helper", "caught call"],
)
def test_helper_of_unknown_count_is_one_call(was: str, becomes: str) -> None:
    """A name of a call that the tests do not make would fail the whole task."""
    text = HELPER.replace(was, becomes)
    names = call_sites(ast.parse(text), "f").names
    assert [name for name in names if "#" in name] == []


@pytest.mark.parametrize(
    ("iterated", "count"),
    [
        ("[make(s) for s in ((1, 2), (3,))]", 2),
        ("[make(s, t) for s in ((1, 2), (3,)) for t in range(3)]", 6),
        ("[s for s in (1, 2, 3) if s > 1]", 1),
        ("zip((1, 2, 3), [4, 5])", 2),
        ("zip((1, 2, 3), loader)", 1),
    ],
)
def test_loop_over_made_list_counts_its_elements(iterated: str, count: int) -> None:
    text = f"cases = {iterated}\nfor case in cases:\n    f(case)\n"
    assert len(call_sites(ast.parse(text), "f").names) == count


def test_caught_calls_left_out() -> None:
    assert call_sites(ast.parse(TESTS), "f").caught == (16,)


def test_calls_that_write_recognised() -> None:
    assert call_sites(ast.parse(TESTS), "f").writes
    assert not call_sites(ast.parse("f(x, inplace=False, out=None)\n"), "f").writes


def test_random_calls_left_out_unless_forbidden() -> None:
    text = "f(x)\nf(x, training=False)\nf(x, p=0.0)\nf(x, p=0.5)\n"
    found = call_sites(ast.parse(text), "f", is_random=True)

    assert (found.names, found.random) == (("line 2", "line 3"), (1, 4))


def test_calls_of_one_place_limited() -> None:
    text = "for i in range(1000):\n    f(i)\n"

    assert len(call_sites(ast.parse(text), "f").names) == 24


def test_name_back_to_line_and_number() -> None:
    assert [place_of(name) for name in ("line 4", "line 9 #2")] == [(4, 0), (9, 1)]


def test_comprehension_over_items_counts_each_turn() -> None:
    text = (
        "cases = {'a': 1, 'b': 2}\nr = {k: f(v) for k, v in cases.items()}\ns = [f(v) for v in cases.values() if v]\n"
    )

    assert call_sites(ast.parse(text), "f").names == ("line 2 #1", "line 2 #2", "line 3")
