"""The result of a run as Markdown, with and without a target."""

from __future__ import annotations

from dataclasses import replace

from engine.model import (
    Candidate,
    Plan,
)
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN
from kgtui.state.format.glyphs import UNICODE
from kgtui.state.format.lines import plain_text
from kgtui.state.run.tables import kernel_note
from kgtui.state.workbench.markdown import run_markdown
from tests.kgtui import fakes
from tests.kgtui.state.strip_lines import CONTEXT, started, view_of


def test_run_without_target_states_nothing_was_compiled(candidate: Candidate) -> None:
    view = reduce_all(NO_RUN, (replace(started(candidate), target=None),))
    assert plain_text((kernel_note(view),)) == "nothing was compiled: this run had no target; t chooses one"


def test_result_markdown_counts_kernels_left_out(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    partial = replace(view, kernels_planned=len(view.kernels) + 2)
    text = run_markdown(partial, CONTEXT, glyphs=UNICODE)
    assert text.endswith(f"\n\n2 of {partial.kernels_planned} kernels were not compiled\n")


def test_result_markdown_has_verdict_cases_reason_and_kernels(candidate: Candidate, plan: Plan) -> None:
    text = run_markdown(view_of(fakes.some_fail(candidate, plan)), CONTEXT, glyphs=UNICODE)
    assert text.startswith("### aten::softmax: wrong value (run #42)\n")
    assert "| 127x128 f32 | wrong value | 127 | nan | nan | 6 ms |" in text
    assert "only the end of the last dimension is wrong" in text
    assert "| softmax_kernel | sm_90 | 40 | 0 | 16 |" in text
