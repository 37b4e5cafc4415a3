"""The TTIR of a kernel."""

from __future__ import annotations

import gc

import pytest
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

from engine.loading import warm_kernel
from engine.loading.lowering import ttir_of, without_folders
from engine.machine.reader import read_module


def test_files_are_named_without_folders():
    text = '#loc = loc("/tmp/a/kernel.py":8:1)\n#loc1 = loc("x/y"(#loc))\n#loc2 = loc("b.py":1:2)\n'
    assert without_folders(text) == text.replace("/tmp/a/", "")


def test_kernel_ttir_is_module_of_its_name():
    target = GPUTarget("cuda", 90, 32)
    source = ASTSource(warm_kernel.copy, warm_kernel.SIGNATURE, warm_kernel.CONSTANTS, {})
    text = ttir_of(source, target, make_backend(target).parse_options({}))
    assert read_module(text).kernel.name == "copy"


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
