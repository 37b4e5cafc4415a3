"""Every state names the next key that helps, as the user has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import Outcome, Stage, Verdict
from engine.reports.run_record import NO_RUN, RunRecord, StageRecord
from kgtui.settings.keys import ACTIONS, binding_id
from kgtui.state.format.glyphs import State
from kgtui.state.workbench.next_step import _BACK, _EDIT, _EDITOR, _STEPS, next_step
from kgtui.state.workbench.status import Mode, StripContext, status_of
from tests.kgtui import fakes

CONTEXT = StripContext(operator="aten::softmax", filename="softmax.py")
RUNNING = replace(NO_RUN, digest="d", planned=8)


def during(stage: Stage) -> RunRecord:
    return replace(RUNNING, stages=(StageRecord(stage=stage, started_s=0.0),))


def ended(outcome: Outcome, *, flagged: bool = False) -> RunRecord:
    return replace(RUNNING, verdict=Verdict(outcome=outcome, sentence="it ended", passed=0, total=8, flagged=flagged))


KNOWN = [
    (NO_RUN, CONTEXT, State.IDLE, "workbench.run"),
    (NO_RUN, replace(CONTEXT, waiting=True), State.STARTING, "workbench.escape"),
    (NO_RUN, replace(CONTEXT, unsaved=True), State.EDITED, "workbench.save"),
    (NO_RUN, replace(CONTEXT, paused=True), State.PAUSED, "workbench.pause"),
    (during(Stage.LOAD), CONTEXT, State.LOADING, "workbench.escape"),
    (during(Stage.VERIFY), CONTEXT, State.VERIFYING, "workbench.escape"),
    (ended(Outcome.PASS), CONTEXT, State.PASSED, "workbench.inspect"),
    (ended(Outcome.PASS, flagged=True), CONTEXT, State.FLAGGED, "workbench.inspect"),
    (ended(Outcome.COMPILE_ERROR), CONTEXT, State.FAILED, "workbench.edit"),
    (NO_RUN, replace(CONTEXT, begun=True), State.STARTING, "workbench.escape"),
    (replace(RUNNING, cut_short=True), replace(CONTEXT, opened=True), State.INTERRUPTED, "workbench.escape"),
    (ended(Outcome.CANCELLED), CONTEXT, State.CANCELLED, "workbench.run"),
    (ended(Outcome.UNSUPPORTED), CONTEXT, State.UNSUPPORTED, "everywhere.doctor"),
    (ended(Outcome.ENGINE_ERROR), CONTEXT, State.ENGINE_ERROR, "workbench.tab-log"),
]


@pytest.mark.parametrize(("view", "strip_context", "state", "binding"), KNOWN)
def test_state_names_the_next_step(view: RunRecord, strip_context: StripContext, state: State, binding: str) -> None:
    assert (status_of(view, strip_context).state, next_step(view, strip_context).binding) == (state, binding)


def test_undecodable_file_is_left_to_other_editor() -> None:
    assert next_step(ended(Outcome.COMPILE_ERROR), replace(CONTEXT, editable=False)).binding == "workbench.editor"


def test_a_failed_case_can_be_looked_at() -> None:
    problem = fakes.softmax_problem()
    failed = replace(ended(Outcome.WRONG_VALUE), cases=(fakes.wrong(problem.cases[0]),))
    assert next_step(failed, CONTEXT).binding == "workbench.why"


def test_typing_offers_only_save_and_escape() -> None:
    editing = replace(CONTEXT, mode=Mode.EDIT)
    offered = {
        next_step(view, replace(editing, unsaved=strip_context.unsaved)).binding for view, strip_context, _, _ in KNOWN
    }
    assert offered == {"workbench.escape", "workbench.save"}


def test_past_run_offers_return() -> None:
    assert next_step(ended(Outcome.PASS), replace(CONTEXT, opened=True)).binding == "workbench.escape"


def test_every_state_has_step_with_key() -> None:
    assert set(_STEPS) == set(State)
    bindings = {step.binding for step in (*_STEPS.values(), _EDIT, _EDITOR, _BACK)}
    assert bindings - {binding_id(action) for action in ACTIONS} == set()
