"""What the compile stage adds to the kernels that were compiled."""

from __future__ import annotations

from engine.model import CompiledKernel, Launch, Location, Outcome, Severity
from engine.run.stages.compile_stage import narrow_offsets


def compiled(kernel: str, line: int | None, **constants: str) -> CompiledKernel:
    launch = Launch(
        kernel=kernel,
        signature={},
        constants=constants,
        divisible_by_16=(),
        num_warps=4,
        num_stages=3,
        grid=(1,),
        line=1,
    )
    return CompiledKernel(launch=launch, target="sm_90", outcome=Outcome.PASS, elapsed_s=0.1, narrow_offset_line=line)


def test_kernel_with_narrow_offsets_has_one_note() -> None:
    found = narrow_offsets([compiled("a", 9), compiled("b", None), compiled("a", 7), compiled("c", 20)])
    assert [(one.message.split()[0], one.location) for one in found] == [
        ("a", Location(line=7)),
        ("c", Location(line=20)),
    ]
    assert {(one.check, one.severity) for one in found} == {("offsets", Severity.NOTE)}


def test_fixed_sizes_need_no_wide_offsets() -> None:
    assert narrow_offsets([compiled("a", 9)], has_fixed_sizes=True) == ()


def test_specialisations_on_sizes_of_one_say_nothing_of_offsets() -> None:
    assert narrow_offsets([compiled("a", None, block="64"), compiled("a", 9, block="64", cols="1")]) == ()
    (found,) = narrow_offsets([compiled("a", 7, block="64"), compiled("a", 9, block="64", cols="1")])
    assert found.location == Location(line=7)
