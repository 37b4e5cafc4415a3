"""A failed case: its message, its outputs, and the map of its errors."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from engine.model import (
    DType,
    Outcome,
    OutputReport,
    Plan,
    WrongElement,
)
from engine.reports.run_record import NO_RUN
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import plain_text
from kgtui.state.run.cases import (
    case_detail,
    case_rows,
    error_map,
    largest,
    max_errors,
    reading,
)
from kgtui.state.run.failed_case import failed_case
from tests.kgtui import fakes


def test_failed_case_states_error_size_and_place(plan: Plan) -> None:
    detail = plain_text(case_detail(fakes.wrong(plan.cases[4]), glyphs=UNICODE)).splitlines()
    assert detail[:10] == [
        "127x128 f32  ✗ wrong value line 12",
        "output    return  float32[127, 128]",
        "worst at  [3, 127]",
        "expected  0.031622776  got nan",
        "max error nan; of the finite elements abs 3.1e-02  rel 9.8e-01  ulp 262144",
        "wrong     127 of 16,256 elements (0.781 %)",
        "nan, inf  127, expected 0",
        "bounds    [0, 127] to [126, 127]",
        "only the end of the last dimension is wrong: check the mask of the tail block",
        "where     · right  █ all wrong, one cell per tile",
    ]
    assert detail[10] == "·" * 31 + "▓"


def test_message_repeated_by_output_is_shown_once(plan: Plan) -> None:
    message = "return is float32, expected bfloat16"
    report = OutputReport(
        name="return",
        outcome=Outcome.WRONG_DTYPE,
        shape=(4,),
        dtype=DType.FLOAT32,
        total=4,
        mismatched=4,
        message=message,
    )
    result = replace(fakes.passed(plan.cases[0]), outcome=Outcome.WRONG_DTYPE, message=message, outputs=(report,))
    assert plain_text(case_detail(result, glyphs=UNICODE)).count(message) == 1


def test_reason_from_earlier_version_is_marked(plan: Plan) -> None:
    heading = plain_text(case_detail(fakes.wrong(plan.cases[4]), glyphs=UNICODE, stale=True)).splitlines()[0]
    assert heading == "127x128 f32  ✗ wrong value line 12  stale: from an earlier version"


def test_out_of_bounds_access_states_tensor_and_line(plan: Plan) -> None:
    assert plain_text(case_detail(fakes.out_of_bounds(plan.cases[0]), glyphs=UNICODE)).splitlines() == [
        "1x781 f32  ✗ runtime error line 12",
        "load out of bounds in softmax_kernel at line 12",
        "tensor    x_ptr  has 16,256 elements",
        "index     16,256  counted from its first element",
        "program   (126, 0, 0)",
        "1 call, 2 ms, inputs from seed 3",
    ]


def test_error_map_begins_at_first_wrong_tile(plan: Plan) -> None:
    report = replace(fakes.WRONG_TAIL, error_map=("....", "....", "...9", "...."))
    reported = plain_text(case_detail(fakes.wrong(plan.cases[4], report), glyphs=UNICODE)).splitlines()
    assert reported[reported.index("where     · right  █ all wrong, one cell per tile") + 1 :][:3] == [
        "          the first 2 of 4 rows of tiles are right",
        "···▓",
        "····",
    ]
    page = plain_text(failed_case(fakes.wrong(plan.cases[4], report), glyphs=UNICODE, width=80, number=1)).splitlines()
    assert [text.split() for text in page[-5:-2]] == [
        ["the", "first", "2", "of", "4", "rows", "of", "tiles", "are", "right"],
        ["64", "···▓"],
        ["96", "····"],
    ]


def test_largest_error_is_nan_where_number_was_expected(plan: Plan) -> None:
    cells = [cell.text for cell in case_rows(plan.cases[4:5], NO_RUN, NO_RUN, glyphs=UNICODE)[0].cells]
    assert cells[3:6] == ["–", "–", "–"]
    view = replace(NO_RUN, cases=(fakes.wrong(plan.cases[4]),))
    assert [cell.text for cell in case_rows(plan.cases[4:5], view, NO_RUN, glyphs=UNICODE)[0].cells][3:6] == ["nan"] * 3
    infinite = replace(fakes.WRONG_TAIL, worst=WrongElement(index=(0, 0), expected="1.0", got="-inf"))
    assert max_errors(infinite) == (math.inf, math.inf, math.inf)
    finite = replace(fakes.WRONG_TAIL, worst=WrongElement(index=(0, 0), expected="1.0", got="2.0"))
    assert max_errors(finite) == (3.1e-2, 0.98, 262144.0)
    assert math.isnan(largest([1.0, math.nan, 2.0]))


def test_error_map_darkens_with_share_of_wrong_elements() -> None:
    assert plain_text(error_map((".12345678", "9#......."), glyphs=UNICODE)) == "·░░░▒▒▒▓▓\n▓█·······"
    assert plain_text(error_map((".15#",), glyphs=ASCII)) == ".-+#"


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ((".......#", ".......3"), "tail block"),
        (("#.......", "3......."), "first block"),
        (("........", "###11111"), "last rows"),
        (("........", "###11111", "........"), "band of rows"),
        (("1.1.1.1.", "1.1.1.1."), ""),
    ],
)
def test_pattern_of_wrong_elements_gives_hint(rows: tuple[str, ...], hint: str) -> None:
    said = reading(replace(fakes.WRONG_TAIL, error_map=rows))
    assert hint in said and bool(hint) == bool(said)
