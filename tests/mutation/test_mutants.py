"""Mutants are wrong copies of a kernel, the same in every run, and none that provably computes the same."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.mutation.edits import Kind
from tests.mutation.known import EQUIVALENT, UNSEEN
from tests.mutation.mutants import Mutant, drawn, mutants_of

HONEST = Path(__file__).parents[1] / "corpus" / "honest"
Corpus: TypeAlias = dict[Path, tuple[Mutant, ...]]
HEAD = "@triton.jit\ndef kernel(x_ptr, y_ptr, n, row, col, B: tl.constexpr):\n"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The mutants of every fifth honest kernel, and of those whose survivors are known."""
    known = {name.partition(":")[0] for name in (*EQUIVALENT, *UNSEEN)}
    paths = sorted(HONEST.glob("*.py"))
    chosen = [path for number, path in enumerate(paths) if number % 5 == 0 or path.stem in known]
    return {path: mutants_of(path.read_text(), kernel=path.stem) for path in chosen}


def mutants(*body: str) -> tuple[Mutant, ...]:
    return mutants_of(HEAD + "".join(f"    {line}\n" for line in body), kernel="k")


def texts(kind: Kind, *body: str) -> list[str]:
    """What stands in the place of what, of one kind of mutants."""
    return [f"{mutant.before} -> {mutant.after}" for mutant in mutants(*body) if mutant.kind is kind]


@pytest.mark.parametrize(
    ("kind", "line", "expected"),
    [
        (Kind.DROP_MASK, "tl.store(y_ptr, x, mask=n > 1)", ["tl.store(y_ptr, x, mask=n > 1) -> tl.store(y_ptr, x)"]),
        (Kind.DROP_CONDITION, "a = (row < n) & (col < B)", [
            "(row < n) & (col < B) -> (row < n)", "(row < n) & (col < B) -> (col < B)",
        ]),
        (Kind.SHIFT_INDEX, "x = tl.load(x_ptr + row)", ["x_ptr + row -> (x_ptr + row + 1)"]),
        (Kind.SHIFT_INDEX, "i = tl.arange(0, B)", ["tl.arange(0, B) -> (tl.arange(0, B) + 1)"]),
        (Kind.CHANGE_CONSTANT, "a = 0.0", ["0.0 -> 1.0"]),
        (Kind.CHANGE_CONSTANT, "a = tl.sum(x, axis=1)", ["1 -> 2"]),
        (Kind.CHANGE_CONSTANT, 'a = float("-inf")', ['float("-inf") -> 0.0']),
        (Kind.SWAP_OPERATOR, "a = tl.maximum(row, col)", ["tl.maximum -> tl.minimum"]),
        (Kind.SWAP_OPERATOR, "a = row <= n", ["row <= n -> (row < n)"]),
        (Kind.SWAP_OPERATOR, "a = row - n", ["row - n -> ((row) + (n))"]),
        (Kind.SWAP_OPERATOR, "a += n", ["a += n -> a -= n"]),
        (Kind.SWAP_ARGUMENTS, "x = tl.load(x_ptr + i * row + j * col)", [
            "x_ptr + i * row + j * col -> (x_ptr + i * col + j * row)",
        ]),
        (Kind.SWAP_ARGUMENTS, "x = tl.where(row < n, x, y)", ["tl.where(row < n, x, y) -> tl.where(row < n, y, x)"]),
        (Kind.NARROW, "x = y.to(tl.float32)", [
            "y.to(tl.float32) -> y.to(tl.float16)", "y.to(tl.float32) -> y.to(tl.bfloat16)",
        ]),
        (Kind.SKIP_LAST, "for i in tl.static_range(n): pass", ["n -> (n) - 1"]),
        (Kind.DROP_TERM, "a = x / y", ["x / y -> (x)"]),
        (Kind.DROP_TERM, "a = x * y", ["x * y -> (x)", "x * y -> (y)"]),
        (Kind.FORCE_BRANCH, "a = x if B else y", ["x if B else y -> (x)", "x if B else y -> (y)"]),
    ],
)  # fmt: skip
def test_every_kind_of_mistake_is_made(kind: Kind, line: str, expected: list[str]) -> None:
    assert texts(kind, line) == expected


def test_loop_ends_early_and_accumulator_is_narrowed() -> None:
    loop = ("for start in range(0, n, B):", "    total = total + x")
    assert texts(Kind.SKIP_LAST, *loop) == ["n -> (n) - 1", "n -> (n) - (B)"]
    assert texts(Kind.NARROW, *loop) == [
        f"total = total + x -> total = total + x; total = total.to({narrow}).to(total.dtype)"
        for narrow in ("tl.float16", "tl.bfloat16")
    ]


@pytest.mark.parametrize(
    "launch",
    [
        "    kernel[(triton.cdiv(n, 64),)](x, n)\n",
        "    grid = (triton.cdiv(n, 64),)\n    kernel[grid](x, n)\n",
        "    kernel[lambda meta: (triton.cdiv(n, 64),)](x, n)\n",
    ],
)
def test_grid_loses_last_program_in_every_form(launch: str) -> None:
    found = mutants_of(f"def entry(x, n):\n{launch}", kernel="k")
    assert [mutant.after for mutant in found] == ["max(1, (triton.cdiv(n, 64)) - 1)", "max(1, (n) // (64))"]


def test_composed_grid_loses_last_program_of_each_part() -> None:
    found = mutants_of("def entry(x, tiles, parts):\n    kernel[(*tiles, parts)](x)\n", kernel="k")
    assert [mutant.after for mutant in found] == [
        "*(max(1, one - 1) for one in tiles)",
        "max(1, (parts) - 1)",
    ]
    assert ast.parse(found[0].source)


def test_text_outside_kernels_and_grids_is_unchanged() -> None:
    assert mutants_of("def helper(x):\n    return 2 * x + 1\n", kernel="k") == ()


def test_padding_stored_nowhere_is_not_mutated() -> None:
    body = ("inside = (row < n) & (col < n)", "x = tl.load(x_ptr, mask=col < n, other=0.5)")
    store = "tl.store(y_ptr, tl.exp(x), mask=inside)"
    assert "0.5 -> 1.0" not in texts(Kind.CHANGE_CONSTANT, *body, store)
    assert "0.5 -> 1.0" in texts(Kind.CHANGE_CONSTANT, *body, "tl.store(y_ptr, tl.exp(x), mask=row < n)")
    assert "0.5 -> 1.0" in texts(Kind.CHANGE_CONSTANT, *body, "x = tl.sum(x, axis=0)", store)


def test_mutant_name_has_kernel_line_kind_and_count() -> None:
    names = [mutant.name for mutant in mutants("a = 0.0", "b = 1.0; c = 2.0")]
    assert names == ["k:3:change_constant", "k:4:change_constant", "k:4:change_constant:2"]


@pytest.mark.slow
def test_corpus_mutants_are_different_with_different_names(corpus: Corpus) -> None:
    for path, found in corpus.items():
        forms = {ast.dump(ast.parse(mutant.source)) for mutant in found[::10]}
        assert len(forms | {ast.dump(ast.parse(path.read_text()))}) == len(found[::10]) + 1, path.stem
        assert len({mutant.name for mutant in found}) == len(found), path.stem


def test_mutants_are_the_same_in_every_run() -> None:
    source = (HONEST / "softmax_three_passes.py").read_text()
    assert mutants_of(source, kernel="softmax") == mutants_of(source, kernel="softmax")


def test_sampled_mutants_are_same_and_in_source_order() -> None:
    found = mutants("a = 0.0", "b = row + n", "c = row < n", "d = x * y")
    few, more = drawn(found, 3), drawn(found, 5)
    assert len(few) == 3
    assert set(few) < set(more)
    assert sorted(more, key=found.index) == list(more)


@pytest.mark.slow
def test_known_survivors_are_existing_mutants(corpus: Corpus) -> None:
    existing = {mutant.name for found in corpus.values() for mutant in found}
    assert {*EQUIVALENT, *UNSEEN} - existing == set()
    assert EQUIVALENT.keys() & UNSEEN.keys() == set()
