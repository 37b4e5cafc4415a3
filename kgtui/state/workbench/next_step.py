"""The most useful next key in each state, for the strip; every state has one.
Bindings are identified by id, since the user may have changed their keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgtui.state.format.glyphs import BUSY, State
from kgtui.state.workbench.status import Mode, StripContext, status_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.reports.run_record import RunRecord


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A binding of the workbench, or a global one, by its id, and its current effect."""

    binding: str
    words: str


_CANCEL = NextStep(binding="workbench.escape", words="cancel")
_BACK = NextStep(binding="workbench.escape", words="back")
_EDIT = NextStep(binding="workbench.edit", words="edit")
_EDITOR = NextStep(binding="workbench.editor", words="open $EDITOR")
_RUN = NextStep(binding="workbench.run", words="run")
_STEPS: Mapping[State, NextStep] = {
    **dict.fromkeys(BUSY, _CANCEL),
    State.IDLE: _RUN,
    State.EDITED: NextStep(binding="workbench.save", words="save"),
    State.PASSED: NextStep(binding="workbench.inspect", words="inspect"),
    State.FAILED: NextStep(binding="workbench.why", words="why"),
    State.FLAGGED: NextStep(binding="workbench.inspect", words="why"),
    State.CANCELLED: _RUN,
    State.INTERRUPTED: _BACK,  # an earlier run is shown
    State.PAUSED: NextStep(binding="workbench.pause", words="resume"),
    State.UNSUPPORTED: NextStep(binding="everywhere.doctor", words="why"),
    State.ENGINE_ERROR: NextStep(binding="workbench.tab-log", words="show the log"),
}


def next_step(view: RunRecord, strip_context: StripContext) -> NextStep:
    """The next key to press; while text is typed, only keys that type no character."""
    status = status_of(view, strip_context)
    state = status.state
    if strip_context.opened or (strip_context.mode is Mode.EDIT and state is not State.EDITED):
        return _BACK
    if state is State.PASSED and status.busy:
        return _CANCEL
    if state is State.FAILED and not view.failed:
        return _EDIT if strip_context.editable else _EDITOR  # the source itself failed, so there is no failed case
    return _STEPS[state]
