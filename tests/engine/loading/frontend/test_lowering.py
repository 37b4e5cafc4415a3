"""The TTIR of a kernel."""

from __future__ import annotations

import ast
import gc
from typing import Any

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime.jit import JITFunction

from engine.loading import warm_kernel
from engine.loading.frontend.lowering import share_trees, ttir_of
from engine.machine.reader import read_module
from engine.protocol.proof.binaries import without_folders


def test_files_are_named_without_folders():
    text = '#loc = loc("/tmp/a/kernel.py":8:1)\n#loc1 = loc("x/y"(#loc))\n#loc2 = loc("b.py":1:2)\n'
    assert without_folders(text) == text.replace("/tmp/a/", "")


def test_kernel_ttir_is_module_of_its_name():
    target = GPUTarget("cuda", 90, 32)
    source = ASTSource(warm_kernel.copy, warm_kernel.SIGNATURE, warm_kernel.CONSTANTS, {})
    text = ttir_of(source, target, make_backend(target).parse_options({}))
    assert read_module(text).kernel.name == "copy"


def copy_of(block: int) -> str:
    """The TTIR of the warm kernel for blocks of this size."""
    target = GPUTarget("cuda", 90, 32)
    source = ASTSource(warm_kernel.copy, warm_kernel.SIGNATURE, {(3,): block}, {})
    return ttir_of(source, target, make_backend(target).parse_options({}))


@pytest.fixture
def shared_trees(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Trees are shared during a test; returns the sources that were parsed since."""
    monkeypatch.setattr(JITFunction, "parse", JITFunction.parse)  # restored after the test
    share_trees()
    parse, parsed = ast.parse, []

    def parse_noted(source: str, *rest: Any, **named: Any) -> ast.AST:
        parsed.append(source)
        return parse(source, *rest, **named)

    monkeypatch.setattr(ast, "parse", parse_noted)
    return parsed


def test_source_is_parsed_once_for_all_specialisations(shared_trees: list[str]) -> None:
    for block in (16, 32, 64):
        assert f"tensor<{block}xf32>" in copy_of(block)
    assert shared_trees.count(warm_kernel.copy.src) == 1


def test_changed_source_is_parsed_anew(shared_trees: list[str]) -> None:
    @triton.jit
    def changing(x):
        pass

    first = changing.parse()
    changing._unsafe_update_src("def changing(y):\n    pass\n")
    assert first.body[0].args.args[0].arg == "x"
    assert changing.parse().body[0].args.args[0].arg == "y"
    assert changing.parse() is changing.parse()


def test_shared_tree_gives_the_text_of_a_parsed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = [copy_of(block) for block in (16, 32, 16)]
    monkeypatch.setattr(JITFunction, "parse", JITFunction.parse)
    share_trees()
    assert [copy_of(block) for block in (16, 32, 16)] == parsed


@pytest.mark.parametrize("enabled", [True, False])
def test_nothing_is_collected_while_a_frontend_runs(monkeypatch: pytest.MonkeyPatch, enabled: bool) -> None:
    seen: list[bool] = []

    class Source(ASTSource):
        def make_ir(self, *_: object) -> None:
            seen.append(gc.isenabled())
            raise ZeroDivisionError

    source = Source(warm_kernel.copy, warm_kernel.SIGNATURE, warm_kernel.CONSTANTS, {})
    target = GPUTarget("cuda", 90, 32)
    was_enabled = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError):
            ttir_of(source, target, make_backend(target).parse_options({}))
        assert (seen, gc.isenabled()) == ([False], enabled)
    finally:
        (gc.enable if was_enabled else gc.disable)()
