"""Which source line a line of compiled code came from, on pieces of what the compilers write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import Outcome
from kgtui.state.code.forms import (
    forms_line,
    forms_of,
    lines_from,
    nearest_form,
    next_form,
    source_lines,
)
from tests.kgtui import fakes

MLIR = """\
    %x = tt.load %p loc(#loc26)
    %m = arith.maxnumf %a, %b loc(#loc37)
    tt.return loc(#loc)
#loc5 = loc("/k/softmax.py":12:25)
#loc7 = loc("/triton/language/standard.py":216:16)
#loc10 = loc("/triton/language/standard.py":196:12)
#loc11 = loc("/k/softmax.py":13:9)
#loc26 = loc("x"(#loc5))
#loc28 = loc("x"(#loc11))
#loc33 = loc(callsite(#loc7 at #loc28))
#loc37 = loc(callsite(#loc10 at #loc33))
"""
LLVM = """\
  %1 = load float, ptr %0, !dbg !16
  %2 = call float @max(), !dbg !23
  ret void
!16 = !DILocation(line: 12, column: 17, scope: !4)
!18 = !DILocation(line: 216, column: 16, scope: !19, inlinedAt: !21)
!21 = distinct !DILocation(line: 13, column: 13, scope: !22)
!23 = !DILocation(line: 196, column: 12, scope: !19, inlinedAt: !18)
"""
PTX = """\
.visible .entry k(
	.loc	1 12 17                         // softmax.py:12:17
	ld.global.b32 	{ %r1 }, [ %rd1 + 0 ];
	.loc	2 216 16, function_name $L__info_string0, inlined_at 1 13 13 // standard.py:216:16
	shfl.sync.bfly.b32 	%r2, %r1, 16, 31, -1;
	.loc	2 196 12, function_name $L__info_string0, inlined_at 2 216 16 // standard.py:196:12
	max.f32 	%r3, %r1, %r2;
"""
AMDGCN = """\
	.loc	1 0 0 is_stmt 0                 ; :0:0
	s_load_dword s2, s[0:1], 0x10
	.loc	1 12 25 is_stmt 1               ; softmax.py:12:25
	buffer_load_dword v1, v0, s[4:7], 0 offen
	.loc	2 196 12                        ; standard.py:196:12 @[ standard.py:216:16 @[ softmax.py:13:13 ] ]
	v_max_f32_e32 v1, v1, v2
"""
SASS = """\
        //## File "/k/softmax.py", line 12
        /*0010*/ LDG.E R1, [R2] ;
        //## File "/triton/language/standard.py", line 216 inlined at "/k/softmax.py", line 13
        /*0020*/ SHFL.BFLY PT, R3, R1, 0x10, 0x1f ;
"""


@pytest.mark.parametrize(
    ("form", "text", "origins"),
    [
        ("ttgir", MLIR, (12, 13, None, *[None] * 8)),
        ("llir", LLVM, (12, 13, None, *[None] * 4)),
        ("ptx", PTX, (None, 12, 12, 13, 13, 13, 13)),
        ("amdgcn", AMDGCN, (None, None, 12, 12, 13, 13)),
        ("sass", SASS, (12, 12, 13, 13)),
        ("plain", "a\nb", (None, None)),
    ],
)
def test_code_is_traced_to_line_of_kernel(form: str, text: str, origins: tuple[int | None, ...]) -> None:
    assert source_lines(text, form=form) == origins


def test_cyclic_locations_have_no_line() -> None:
    assert source_lines('x loc(#loc1)\n#loc1 = loc("a"(#loc2))\n#loc2 = loc("b"(#loc1))', form="ttir") == (None,) * 3


def test_the_code_of_a_source_line_is_found() -> None:
    assert lines_from(source_lines(PTX, form="ptx"), 13) == (4, 5, 6, 7)
    assert lines_from(source_lines(PTX, form="ptx"), 99) == ()


def test_forms_cycle_from_source_to_machine_code() -> None:
    kernel = fakes.compiled()
    assert forms_of(kernel) == ("ttir", "ptx")
    assert (next_form(kernel, "ttir"), next_form(kernel, "ptx"), next_form(kernel, "sass")) == ("ptx", "ttir", "ttir")
    assert (nearest_form(kernel, "ttir"), nearest_form(kernel, "sass")) == ("ttir", "ptx")
    assert nearest_form(replace(kernel, artefacts=()), "ptx") is None


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome.PASS, "no code was stored: see the findings  sm_90: softmax_kernel"),
        (Outcome.COMPILE_ERROR, "it did not build, so it has no code  sm_90: softmax_kernel"),
    ],
)
def test_kernel_without_code_gives_reason(outcome: Outcome, words: str) -> None:
    kernel = replace(fakes.compiled(), outcome=outcome, artefacts=())
    assert "".join(span.text for span in forms_line(kernel, None)) == words
