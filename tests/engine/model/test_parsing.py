"""Parsing is quiet, and safe from several threads at once."""

from __future__ import annotations

import ast
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.model.parsing import parse

DEEP = "\n".join(f"def f{i}(x):\n    return [x + {i}, (x, {{'a': x}})]" for i in range(400))


def test_many_threads_get_the_same_tree() -> None:
    with ThreadPoolExecutor(max_workers=8) as pool:
        trees = list(pool.map(parse, [DEEP] * 24))
    assert {ast.dump(tree) for tree in trees} == {ast.dump(ast.parse(DEEP))}


def test_an_odd_escape_is_parsed_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(parse("x = '\\d'\n").body) == 1


def test_a_syntax_error_names_the_file() -> None:
    with pytest.raises(SyntaxError) as caught:
        parse("def f(:\n", filename="kernel.py")
    assert caught.value.filename == "kernel.py"
