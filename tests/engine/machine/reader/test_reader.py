"""Reading modules that Triton wrote."""

from __future__ import annotations

from pathlib import Path

from engine.machine.ir import Constant, Pointer, Scalar, SourceLocation, Tensor
from engine.machine.reader import read_module

SAMPLES = Path(__file__).parent / "samples"


def sample(name: str) -> str:
    """The text of a sample."""
    return (SAMPLES / f"{name}.ttir").read_text()


def test_kernel_arguments_have_types_and_divisibility() -> None:
    kernel = read_module(sample("mixed")).kernel
    assert [(argument.name, argument.type) for argument in kernel.arguments] == [
        ("x", Pointer(pointee=Scalar.F32)),
        ("y", Pointer(pointee=Scalar.F32)),
        ("n", Scalar.I32),
    ]
    assert kernel.divisibility == {0: 16}


def test_kernel_blocks_and_successors_are_read() -> None:
    blocks = read_module(sample("mixed")).kernel.body.blocks
    assert len(blocks) == 3
    assert [successor.block for successor in blocks[0].operations[-1].successors] == [1, 2]


def test_constants_are_bit_patterns() -> None:
    first = read_module(sample("mixed")).kernel.body.blocks[0].operations[0]
    assert first.attributes == {"value": Constant(bits=(0,))}
    assert first.results[0].type == Tensor(shape=(16, 16), element=Scalar.F32)


def test_location_in_library_has_callers() -> None:
    kernel = read_module(sample("mixed")).kernel
    scan = next(operation for operation in kernel.body.blocks[2].operations if operation.name == "tt.scan")
    assert scan.location == SourceLocation(
        file="standard.py",
        line=358,
        column=12,
        callers=(SourceLocation(file="mixed.py", line=18, column=9, variable="s"),),
    )
