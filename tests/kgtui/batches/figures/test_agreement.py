"""The verdict of kgtui beside that of a suite's own rule, and where both are written."""

from __future__ import annotations

import json

import pytest

from engine.model import Outcome
from kgtui.batches.documents import as_csv, as_html, as_json_lines, as_markdown
from kgtui.batches.figures.agreement import Agreement, agreement_of, agreements_of, rule_text
from kgtui.batches.figures.summary import summary_of
from kgtui.batches.lines import ending_text
from kgtui.batches.rows import COLUMNS, result_rows
from kgtui.state.format.lines import Tone
from tests.kgtui.batches.figures.test_summary import result

WRITTEN = [
    result(place=1, rule=3),
    result(place=2, outcome=Outcome.WRONG_VALUE, rule=3),
    result(place=3, rule=2),
    result(place=4, outcome=Outcome.WRONG_VALUE, rule=0),
    result(place=5),
]


@pytest.mark.parametrize(
    ("judged", "expected", "shown"),
    [
        (WRITTEN[0], Agreement.BOTH_PASS, "3/3"),
        (WRITTEN[1], Agreement.SUITE_ONLY, "3/3 !"),
        (WRITTEN[2], Agreement.OURS_ONLY, "2/3 !"),
        (WRITTEN[3], Agreement.NEITHER, "0/3"),
        (result(flagged=True, rule=3), Agreement.SUITE_ONLY, "3/3 !"),
        (result(outcome=Outcome.CRASHED, rule=3), None, "3/3"),
        (result(), None, ""),
        (result(refusal="no code block"), None, ""),
    ],
    ids=["both", "suite", "ours", "neither", "flagged", "crashed", "no-rule", "not-run"],
)
def test_agreement_of_verdict_and_own_rule(judged, expected, shown):
    assert (agreement_of(judged), rule_text(judged)) == (expected, shown)


def test_disagreements_counted_in_summary():
    found = agreements_of(WRITTEN)
    assert (found.compared, found.disagreements) == (4, 2)
    assert summary_of(WRITTEN).all.agreements == found
    assert ending_text(1, WRITTEN).endswith(", 2 with another result under the suite's own rule")


def test_own_rule_in_every_document():
    lines = [json.loads(line) for line in as_json_lines(WRITTEN, title="t").splitlines()]
    assert [line["agreement"] for line in lines[:-1]] == [
        "both pass", "only the suite passes", "only kgtui passes", "both reject", None,
    ]  # fmt: skip
    assert lines[-1]["groups"][0]["agreements"] == {"both_pass": 1, "suite_only": 1, "ours_only": 1, "neither": 1}
    assert ",2,3,only kgtui passes," in as_csv(WRITTEN, title="t")
    for page in (as_markdown(WRITTEN, title="t"), as_html(WRITTEN, title="t")):
        assert "Own rules of the suites" in page and "2/3 !" in page


def test_batch_without_rules_has_no_table_of_them():
    plain = [result()]
    assert "Own rules" not in as_markdown(plain, title="t")
    assert json.loads(as_json_lines(plain, title="t").splitlines()[-1])["groups"][0]["agreements"] is None


def test_row_of_batch_screen_marks_disagreement():
    place = [column.label for column in COLUMNS].index("own rule")
    cells = [row.cells[place] for row in result_rows(WRITTEN, running=(), failed_only=False)]
    assert [(cell.text, cell.tone is Tone.WARN) for cell in cells] == [
        ("3/3", False), ("3/3 !", True), ("2/3 !", True), ("0/3", False), ("", False),
    ]  # fmt: skip
