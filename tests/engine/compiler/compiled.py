"""Compiles launches of a kernel file for several targets in one process and prints the replies, as JSON.

A script, not a module of tests: the compiler patches Triton's kernel class for good.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from engine import protocol
from engine.compiler.main import _Compiler
from engine.model import Launch
from engine.protocol.compiling import WarmUp

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def scale(x):
    return 2 * x


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr, act: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, act(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def odd(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)  # LINE odd


@triton.jit
def huge(x, y, BLOCK: tl.constexpr):
    few, many = tl.arange(0, 16), tl.arange(0, BLOCK)
    a = tl.load(x + few[:, None] * BLOCK + many[None, :])
    tl.store(y + few[:, None] * 16 + few[None, :], tl.dot(a, tl.trans(a + 1)))


def entry():
    raise AssertionError("a compiler loads and never calls")
"""

MODULE = """
module {
  tt.func public @one(%x: !tt.ptr<f32>) {
    %one = arith.constant 1.000000e+00 : f32
    tt.store %x, %one : !tt.ptr<f32>
    tt.return
  }
}
"""


def launch(kernel: str, signature: dict[str, str], constants: dict[str, str]) -> Launch:
    types = {**signature, **dict.fromkeys(constants, "constexpr")}
    return Launch(
        kernel=kernel,
        signature=types,
        constants=constants,
        divisible_by_16=("x", "y", "n"),
        num_warps=4,
        num_stages=2,
        grid=(1,),
        line=1,
    )


COPY = launch("copy", {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": "128", "act": "@scale:6"})
COMPILES = {
    "sm_80": (COPY, "sm_80"),
    "sm_90": (COPY, "sm_90"),
    "gfx942": (COPY, "gfx942"),
    "odd": (launch("odd", {"x": "*fp32"}, {"BLOCK": "3"}), "sm_90"),
    "huge": (launch("huge", {"x": "*fp16", "y": "*fp32"}, {"BLOCK": "4096"}), "sm_86"),
    "missing": (launch("nowhere", {}, {}), "sm_90"),
}


def build(name: str) -> protocol.BuildBinary:
    """A request for the binary of a module."""
    options = protocol.CompileOptions(num_warps=4, num_stages=3)
    request = protocol.BinaryRequest(kernel="one", ttir=MODULE, options=options, target="sm_90")
    return protocol.BuildBinary(id=name, request=request, memory_bytes=4 << 30, readable=())


def cubins() -> set[Path]:
    """The binaries in Triton's cache."""
    return set(Path(os.environ["TRITON_CACHE_DIR"]).rglob("*.cubin"))


def main(folder: Path) -> None:
    compiler = _Compiler(limits_reading=False)
    path = folder / "kernel.py"
    path.write_text(SOURCE)
    reported: dict[str, Any] = {}

    def ask(name: str, command: protocol.AnyCommand) -> None:
        reported[name] = msgspec.to_builtins(compiler.carry_out(command))

    ask("load", protocol.Load(id="load", path=str(path), folder=None, entry="entry"))
    for name, (captured, target) in COMPILES.items():
        ask(name, protocol.Compile(id=name, launch=captured, target=target, folder=str(folder)))
    ask("unwritable", protocol.Compile(id="no", launch=COPY, target="sm_90", folder=str(folder / "kernel.py")))
    ask("sass", protocol.Disassemble(id="sass", folder=str(folder), cubin="sm_90.cubin"))
    ask("call", protocol.Release(id="call"))
    ask("undescribed", protocol.DescribeCompiled(id="undescribed", compiled="unknown", folder=str(folder)))
    ask("binary", build("binary"))
    fresh = _Compiler(limits_reading=False)
    reported["fresh binary"] = msgspec.to_builtins(fresh.carry_out(build("fresh binary")))
    ask("warmed with a candidate", WarmUp(id="late", target="sm_90"))
    before, warmed = cubins(), _Compiler(limits_reading=False)
    reported["warmed"] = msgspec.to_builtins(warmed.carry_out(WarmUp(id="warmed", target="sm_90")))
    reported["warmed"] |= {"compiled": len(cubins() - before), "published": list(warmed._cache.new_files())}
    json.dump(reported, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
