"""What differs in compiled code, on pieces of what the compilers write: noise is no change, and a change is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import CompiledKernel, Outcome
from engine.model.events import KernelPorted, PortingStarted
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN
from kgtui.state.code.differences import Differences, code_lines, differences
from kgtui.state.code.kernel_matching import (
    counterpart,
    kernels_for,
    resource_line,
    specialisation_line,
)
from kgtui.state.format.glyphs import UNICODE
from kgtui.state.format.lines import Tone, plain_text
from tests.kgtui import fakes


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        ("ttir", '%3 = tt.load %2 loc(#loc9)\n#loc9 = loc("k.py":9:2)', "%7 = tt.load %6 loc(#loc1)"),
        ("ttir", "^bb0(%y_1: f32 loc(callsite(#loc16 at #loc44))):", "^bb0(%y_2: f32):"),
        ("ttgir", 'tt.func @k(%x: i32 loc("x"(#loc)))', 'tt.func @k(%x: i32 loc("x"(#loc4)))'),
        ("llir", "%4 = fadd float %3, 1.0, !dbg !16\n!16 = !DILocation()", "%9 = fadd float %8, 1.0, !dbg !99"),
        ("llir", "17:\n  br label %17, !dbg !3", "18:\n  br label %18"),
        ("ptx", "$L__tmp3:\n\t.loc 1 9 2\n\tadd.f32 %f3, %f2, %f1; // k.py:9", "\tadd.f32 %f9, %f8, %f7;"),
        ("ptx", ".reg .b32 %r<40>;\n@%p1 bra $L__BB0_2;", ".reg .b32 %r<48>;\n@%p4 bra $L__BB0_7;"),
        ("ptx", "ret;\n\t.section\t.debug_abbrev\n.b8 1", "ret;"),
        ("amdgcn", "v_add_f32 v1, v2, s3 ; k.py:9\n.Ltmp0:", "v_add_f32 v9, v8, s7"),
        ("amdgcn", "global_load_dwordx4 v[2:5], v[0:1], off", "global_load_dwordx4 v[12:15], v[4:5], off"),
        ("sass", '//## File "k.py", line 9\n  /*0010*/ FADD R1, R2, R3 ;', "  /*0f30*/ FADD R11, R12, R13 ;"),
        ("sass", "@!P0 BRA `(.L_x_1) ;", "@!P3 BRA `(.L_x_27) ;"),
    ],
)
def test_numbering_and_locations_are_ignored(form: str, before: str, after: str) -> None:
    assert differences(before, after, form=form) == Differences(lines=(), removed=0, added=0)


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        ("ttir", "%c128_i32 = arith.constant 128 : i32", "%c256_i32 = arith.constant 256 : i32"),
        ("ttir", "%1 = math.exp %0", "%1 = math.exp2 %0"),
        ("llir", "%1 = fadd float %0, 1.0", "%1 = fadd float %0, 2.0"),
        ("ptx", "ld.global.v4.b32 {%r1}, [%rd1];", "ld.global.b32 {%r1}, [%rd1];"),
        ("amdgcn", "global_load v[2:5], v[0:1], off", "global_load v[2:3], v[0:1], off"),
        ("sass", "LDG.E.128 R4, [R2] ;", "LDG.E R4, [R2] ;"),
        ("plain", "one", "two"),
    ],
)
def test_another_instruction_constant_or_width_is_a_difference(form: str, before: str, after: str) -> None:
    found = differences(before, after, form=form)
    assert (found.removed, found.added) == (1, 1)


def test_compared_code_excludes_its_key() -> None:
    (only,) = code_lines("    /*0010*/   FADD R1, R2, R3 ;", form="sass")
    assert (only.text, only.key) == ("    FADD R1, R2, R3;", "FADD R, R, R;")


def test_change_has_three_lines_of_context() -> None:
    before = [f"line {number}" for number in range(40)]
    after = [*before[:5], "new", *before[5:30], *before[31:]]
    found = differences("\n".join(before), "\n".join(after), form="plain")
    assert found == Differences(
        lines=(
            "@@ -3,6 +3,7 @@", "  line 2", "  line 3", "  line 4", "+ new", "  line 5", "  line 6", "  line 7",
            "@@ -28,7 +29,6 @@", "  line 27", "  line 28", "  line 29", "- line 30", "  line 31", "  line 32",
            "  line 33",
        ),
        removed=1, added=1,
    )  # fmt: skip


def test_changes_with_few_lines_between_are_reported_together() -> None:
    found = differences("a\nb\nc\nd", "A\nb\nc\nD", form="plain")
    assert found.lines == ("@@ -1,4 +1,4 @@", "- a", "+ A", "  b", "  c", "- d", "+ D")


@pytest.mark.parametrize(("last", "hunks"), [(27, 1), (28, 2)], ids=["six lines between", "seven lines between"])
def test_changes_far_apart_are_hunks_of_their_own(last: int, hunks: int) -> None:
    before = [f"line {number}" for number in range(40)]
    after = ["new" if number in (20, last) else line for number, line in enumerate(before)]
    found = differences("\n".join(before), "\n".join(after), form="plain")
    assert sum(line.startswith("@@") for line in found.lines) == hunks


def test_from_nothing_all_is_new() -> None:
    assert differences("", "a\nb", form="plain") == Differences(
        lines=("@@ -1,0 +1,2 @@", "+ a", "+ b"), removed=0, added=2
    )


# Which kernel, and what it takes up


@pytest.fixture
def kernel() -> CompiledKernel:
    built: CompiledKernel = fakes.compiled()
    return built


def test_the_counterpart_is_specialised_most_alike(kernel: CompiledKernel) -> None:
    narrow = replace(kernel, launch=replace(kernel.launch, constants={"BLOCK": "64"}))
    half = replace(kernel, launch=replace(kernel.launch, signature={**kernel.launch.signature, "x_ptr": "*fp16"}))
    slow = replace(kernel, launch=replace(kernel.launch, num_warps=8))
    assert counterpart(kernel, (narrow, half, slow)) is slow
    assert counterpart(kernel, (half, narrow)) is narrow
    assert counterpart(kernel, (half,)) is None


def test_other_kernel_or_target_has_no_counterpart(kernel: CompiledKernel) -> None:
    renamed = replace(kernel, launch=replace(kernel.launch, kernel="other"))
    assert counterpart(kernel, (renamed, replace(kernel, target="gfx942"))) is None


def test_retarget_gives_kernels_of_other_target(kernel: CompiledKernel) -> None:
    elsewhere = replace(kernel, target="gfx942")
    started = PortingStarted(at_s=1.0, targets=("gfx942",), launches=1)
    view = reduce_all(NO_RUN, [started, KernelPorted(at_s=2.0, number=1, total=1, kernel=elsewhere)])
    view = replace(view, kernels=(kernel,), target="sm_90")
    assert kernels_for(view, None) == kernels_for(view, "sm_90") == (kernel,)
    assert kernels_for(view, "gfx942") == (elsewhere,)
    assert kernels_for(view, "sm_80") == ()


def test_resources_that_changed_are_reported_with_both_values(kernel: CompiledKernel) -> None:
    before = replace(kernel, registers=32, spill_bytes=8)
    reported = resource_line(before, kernel, glyphs=UNICODE)
    assert plain_text((reported,)) == "registers 32 ▸ 40   spilled 8 B ▸ 0 B   shared 16 B   occupancy 100% ▸ 75%"
    tone_by_text = {span.text: span.tone for span in reported}
    assert [tone_by_text[text] for text in ("32 ▸ 40", "8 B ▸ 0 B", "100% ▸ 75%")] == [Tone.WARN, Tone.GOOD, Tone.WARN]


def test_unreported_resources_are_unknown(kernel: CompiledKernel) -> None:
    reported = resource_line(replace(kernel, registers=None), kernel, glyphs=UNICODE)
    assert plain_text((reported,)).startswith("registers unknown ▸ 40   spilled 0 B")


def test_unbuilt_kernel_has_reason_instead_of_resources(kernel: CompiledKernel) -> None:
    broken = replace(kernel, outcome=Outcome.COMPILE_ERROR, message="no [such] thing")
    reported = resource_line(kernel, broken, glyphs=UNICODE)
    assert plain_text((reported,)) == "the later one did not build: compile error, no [such] thing"


def test_different_specialisation_is_named(kernel: CompiledKernel) -> None:
    other = replace(kernel.launch, constants={"BLOCK": "64"}, num_warps=8)
    assert specialisation_line(kernel.launch, kernel.launch, glyphs=UNICODE) == ()
    reported = specialisation_line(other, kernel.launch, glyphs=UNICODE)
    assert plain_text((reported,)) == "specialised  BLOCK 64 ▸ 128, warps 8 ▸ 4"


@pytest.mark.parametrize("form", ["ttir", "ttgir", "llir", "ptx", "amdgcn", "sass"])
def test_long_run_of_blanks_is_read_once(form: str) -> None:
    """A pattern that tried each of the blanks as the first would take minutes."""
    (line,) = code_lines(f"x{' ' * 500_000}y", form=form)
    assert line.key == "x y"
