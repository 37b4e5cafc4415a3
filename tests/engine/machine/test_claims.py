"""Assumptions and hints that a kernel gives to the compiler: false ones are found, true ones are not."""

# ruff: noqa: N803  (constexpr parameters are upper case in every Triton kernel)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from engine.machine.executor import execute
from engine.machine.ir import Constant
from engine.machine.memory import Address, Memory
from engine.machine.results import FindingKind, MemoryFinding
from tests.engine.machine.building import I32, FunctionBuilder, module, pointer, storage, tensor
from tests.engine.machine.launching import launching


@triton.jit
def assumes(out_ptr, n):
    pid = tl.program_id(0)
    if pid % 2 == 1:
        for step in range(3):
            tl.assume(pid + step < n)
    tl.store(out_ptr + pid, pid)


def findings_of_assumption(programs: int, bound: int) -> tuple[MemoryFinding, ...]:
    out = torch.full((programs,), -1, dtype=torch.int32)
    with launching() as launched:
        assumes[(programs,)](out, bound)
    assert out.tolist() == list(range(programs))
    return launched.executions[0].findings


def test_false_assumption_counts_its_programs_once() -> None:
    (finding,) = findings_of_assumption(10, 6)
    assert (finding.kind, finding.program, finding.count) == (FindingKind.ASSUMPTION, 5, 3)
    assert finding.location is not None
    assert finding.message == f"false assumption: program 5 at test_claims.py:{finding.location.line} (3 programs)"


def test_assumption_of_programs_that_skip_it_is_not_evaluated() -> None:
    assert findings_of_assumption(10, 12) == ()
    assert findings_of_assumption(1, -7) == ()


@triton.jit
def backwards(x_ptr, y_ptr, n, B: tl.constexpr):
    i = n - 1 - (tl.program_id(0) * B + tl.arange(0, B))
    i = tl.max_contiguous(tl.multiple_of(i, B), B)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i >= 0), mask=i >= 0)


@triton.jit
def wrapped(x_ptr, y_ptr, n, B: tl.constexpr):
    start = tl.multiple_of(tl.program_id(0) * B, B)
    i = (start + tl.arange(0, B)) % n
    i = tl.max_contiguous(tl.multiple_of(i, B), B)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


def findings_of_copy(kernel: Any, elements: int) -> tuple[MemoryFinding, ...]:
    x, y = torch.arange(elements), torch.zeros(elements, dtype=torch.int64)
    with launching() as launched:
        kernel[(triton.cdiv(elements, 16),)](x, y, elements, B=16)
    assert torch.equal(x, y)
    return launched.executions[0].findings


def test_false_contiguity_names_its_first_element() -> None:
    (finding,) = findings_of_copy(backwards, 40)
    assert (finding.kind, finding.program, finding.count) == (FindingKind.HINT, 0, 1)
    assert finding.detail == "tl.max_contiguous(i, 16) is false: element 1 is 38 after 39"


def test_wrapped_offsets_are_contiguous_for_whole_blocks_only() -> None:
    assert findings_of_copy(wrapped, 48) == ()
    (finding,) = findings_of_copy(wrapped, 40)
    assert (finding.program, finding.detail) == (2, "tl.max_contiguous(i, 16) is false: element 8 is 0 after 39")


def false_hint(array: np.ndarray, **hints: tuple[int, ...]) -> str:
    """Detail of the finding for a block of numbers that is loaded with these hints, "" if there is none."""
    kernel = FunctionBuilder(pointer(I32))
    e = kernel.entry
    shape = array.shape
    lanes = e.op("tt.make_range", to=tensor(I32, array.size), start=0, end=array.size)
    places = e.op("tt.reshape", lanes, to=tensor(I32, *shape))
    pointers = tensor(pointer(I32), *shape)
    target = e.op("tt.addptr", e.op("tt.splat", e.arguments[0], to=pointers), places, to=pointers)
    attributes = {f"tt.{name}": Constant(bits=numbers) for name, numbers in hints.items()}
    e.op("tt.load", target, to=tensor(I32, *shape), segments=(1, 0, 0), **attributes)
    memory = Memory([storage("x", array, I32, base=4096)])
    findings = execute(module(kernel.build()), (1, 1, 1), [Address(storage=0)], memory).findings
    assert all(finding.kind is FindingKind.HINT for finding in findings)
    return findings[0].detail if findings else ""


@pytest.mark.parametrize(
    ("numbers", "hints", "detail"),
    [
        ([0, 1, 2, 3, 8, 9, 10, 11], {"contiguity": (4,), "divisibility": (8,)}, ""),
        ([0, 1, 2, 3, 8, 9, 10, 11], {"contiguity": (8,)}, "max_contiguous(..., 8) is false: element 4 is 8 after 3"),
        ([0, 1, 2, 3, 9, 10, 11, 12], {"contiguity": (4,), "divisibility": (2,)},
         "multiple_of(..., 2) is false: element 4 is 9"),
        ([16, 1, 2, 3], {"divisibility": (16,)}, ""),
        ([8, 16, 24, 32], {"divisibility": (16,)}, "multiple_of(..., 16) is false: element 0 is 8"),
        ([-16, 0, 16, 32], {"divisibility": (16,), "contiguity": (1,)}, ""),
        ([4, 8, 12, 18], {"divisibility": (4,), "contiguity": (1,)}, "multiple_of(..., 4) is false: element 3 is 18"),
        ([5, 6, 7, 8], {"divisibility": (3,)}, ""),
        ([7, 7, 8, 8], {"constancy": (2,)}, ""),
        ([7, 7, 8, 8], {"constancy": (4,)}, "max_constancy(..., 4) is false: element 2 is 8 after 7"),
        ([7, 7], {"constancy": (4,)}, ""),
        ([[12, 16], [13, 17], [14, 18], [15, 19]], {"contiguity": (4, 1), "divisibility": (4, 1)}, ""),
        ([[12, 16], [13, 18], [14, 19], [15, 20]], {"contiguity": (4, 1)},
         "max_contiguous(..., [4, 1]) is false: element (1, 1) is 18 after 16"),
        ([[4, 5], [6, 7]], {"contiguity": (1, 2), "divisibility": (1, 4)},
         "multiple_of(..., [1, 4]) is false: element (1, 0) is 6"),
    ],
)  # fmt: skip
def test_hint_is_false_only_against_its_definition(numbers: Any, hints: Any, detail: str) -> None:
    assert false_hint(np.array(numbers, np.int32), **hints) == (f"tl.{detail}" if detail else "")
