"""The machine beside Triton's interpreter: the same launches, memory facts included, best of three.

    python -m tests.benchmarks.bench_machine

Each side runs in a process of its own, because Triton decides at import whether it interprets.
"""

# ruff: noqa: N803  (constexpr parameters are upper case in every Triton kernel)

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

ROUNDS = 3


@triton.jit
def pointwise(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x / (1.0 + tl.exp(-x)), mask=offsets < n)


@triton.jit
def softmax(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + lanes, mask=lanes < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * cols + lanes, e / tl.sum(e, axis=0), mask=lanes < cols)


@triton.jit
def rms_norm(x_ptr, w_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + lanes, mask=lanes < cols, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + lanes, mask=lanes < cols, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / cols + 1e-6)
    tl.store(y_ptr + row * cols + lanes, (x * scale * w).to(y_ptr.dtype.element_ty), mask=lanes < cols)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :], mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :], mask=(ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def launches() -> dict[str, Callable[[], Any]]:
    """What is timed, by name; each returns its output."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1 << 20, generator=generator)
    rows = torch.randn(512, 781, generator=generator)
    weight = torch.randn(781, generator=generator)
    a, b = torch.randn(2, 512, 512, generator=generator)

    def run(kernel: Any, grid: tuple[int, ...], *inputs: Any, **constants: int) -> torch.Tensor:
        output = torch.empty_like(inputs[0])
        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        numbers = [value for value in inputs if not isinstance(value, torch.Tensor)]
        kernel[grid](*tensors, output, *numbers, **constants)
        return output

    return {
        "pointwise 2^20, 1,024 programs": lambda: run(pointwise, (1024,), x, x.numel(), BLOCK=1024),
        "softmax 512x781": lambda: run(softmax, (512,), rows, 781, BLOCK=1024),
        "rms_norm 512x781 f32": lambda: run(rms_norm, (512,), rows, weight, 781, BLOCK=1024),
        "rms_norm 512x781 bf16": lambda: run(rms_norm, (512,), rows.bfloat16(), weight.bfloat16(), 781, BLOCK=1024),
        "mm 512^3, 64x64x32 blocks": lambda: run(matmul, (8, 8), a, b, 512, 512, 512, BM=64, BN=64, BK=32),
        "mm 512^3, 32x32x32 blocks": lambda: run(matmul, (16, 16), a, b, 512, 512, 512, BM=32, BN=32, BK=32),
    }


def measure(*, rounds: int) -> None:
    """Print a line per launch: name, seconds, the sum of the output."""
    for name, call in launches().items():
        call()
        best_s = float("inf")
        for _ in range(rounds):
            began = time.perf_counter()
            output = call()
            best_s = min(best_s, time.perf_counter() - began)
        print(f"{name}\t{best_s}\t{float(output.double().abs().sum())}", flush=True)


def main() -> None:
    """One side if an argument names it, else both beside each other."""
    torch.set_num_threads(1)
    if sys.argv[1:] == ["interpreter"]:
        measure(rounds=1)
    elif sys.argv[1:] == ["machine"]:
        from tests.engine.machine.launching import launching

        with launching():
            measure(rounds=ROUNDS)
    else:
        sides = {side: results(side) for side in ("machine", "interpreter")}
        print(f"{'launch':34}{'interpreter':>14}{'machine':>12}{'faster':>9}")
        for name, (machine_s, machine_sum) in sides["machine"].items():
            interpreter_s, interpreter_sum = sides["interpreter"][name]
            # Wide enough for half a unit in the last place of bf16, rounded always in one direction.
            agrees = abs(machine_sum - interpreter_sum) <= 5e-3 * abs(interpreter_sum)
            note = "" if agrees else "  results differ"
            print(f"{name:34}{interpreter_s:12.3f} s{machine_s * 1e3:9.1f} ms{interpreter_s / machine_s:8.0f}x{note}")


def results(side: str) -> dict[str, tuple[float, float]]:
    """Seconds and sum of one side, by launch."""
    environment = os.environ | {"TRITON_INTERPRET": "1" if side == "interpreter" else "0"}
    command = [sys.executable, "-m", "tests.benchmarks.bench_machine", side]
    lines = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return {name: (float(seconds), float(total)) for name, seconds, total in (line.split("\t") for line in lines)}


if __name__ == "__main__":
    main()
