"""Generated candidates on the workbench: requested, streamed into the source pane, stepped through, kept, sent back.

It imports `kgtui.generation` only when used: that imports the store, which would delay the first paint.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.errors import KgtuiError
from engine.reports.run_record import NO_RUN
from kgtui.background import in_background
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.state.workbench.candidate import candidate_shown
from kgtui.state.workbench.status import CandidateStage
from kgtui.widgets.controls.entry import Entry

if TYPE_CHECKING:
    from kgtui.generation.display.versions import Version, VersionKey
    from kgtui.generation.progress import GenerationProgress
    from kgtui.screens.base.host import GenerationControl
    from sessions.candidates.generation_rows import GenerationRow

_UNSAVED = "the file has unsaved text: ctrl+s saves it first"
_NONE_SHOWN = "no candidate is shown: < and > step through the generated ones"
_NONE_YET = "nothing was generated for this operator yet; g generates"
_NOT_THERE = "the answer is still arriving; esc on the file stops generating"


class CandidateViewer:
    """Generated candidates of one workbench screen.  While a batch is followed, `tick` shows its progress."""

    def __init__(self, context: WorkbenchContext, *, history: PastRunViewer) -> None:
        self._context = context
        self._history = history
        self._shown: VersionKey | None = None
        self._follows = False
        self._has_begun = False
        self._drawn: tuple[GenerationProgress, tuple[GenerationRow, ...]] | None = None
        self._typed = ""

    @property
    def waits(self) -> bool:
        """Whether a batch is followed."""
        return self._follows

    # Requesting candidates

    def action_generate(self) -> None:
        """Open the input for models, a strategy and a budget."""
        from kgtui.generation.display.typed import EXAMPLE

        if self._context.bench.unsaved:
            self._context.notify(_UNSAVED, severity="warning")
            return
        self._context.screen.app.clear_notifications()  # they would cover the input line
        self._entry.ask("generate", submitted=self._generate, hint=EXAMPLE, value=self._typed)

    def action_remark(self) -> None:
        """Open the input for a remark, with which the shown candidate is sent back."""
        version = self._stored()
        if version is not None:
            self._context.screen.app.clear_notifications()
            hint = f"changes for {version.key.model}; leave empty to send only the report of the run"
            self._entry.ask("remark", submitted=partial(self._send_back, version), hint=hint, value="")

    def stop(self) -> bool:
        """Stop generating; answers received so far are stored.  False if nothing is being generated."""
        if not self._has_begun:
            return False
        self._has_begun = False
        return self._generation.stop()

    # Showing candidates

    def action_version(self, step: int) -> None:
        """Show the next or the previous generated candidate."""
        if self._context.bench.unsaved:
            self._context.notify(_UNSAVED, severity="warning")
        else:
            in_background(self._context.screen, partial(self._step, step), group="past")

    def leave(self) -> None:
        """Return to the file; a batch continues until the next step back."""
        self._shown, self._follows = None, False
        self._history.leave()

    def tick(self) -> None:
        """Show new parts of the shown candidate."""
        if self._shown is None and not self._follows:
            return
        if self._shown is not None and not self._context.bench.shown.candidate:
            self._shown, self._follows = None, False  # a save or another run is shown meanwhile
            return
        generation = self._generation
        drawn = (generation.progress, generation.rows)
        if self._drawn is not None and all(now is before for now, before in zip(drawn, self._drawn, strict=True)):
            return
        self._drawn = drawn
        self._show_new(*drawn)

    # Inside

    def _generate(self, typed: str) -> None:
        self._typed = typed
        self._begin(partial(self._generation.begin, typed))

    def _send_back(self, version: Version, remark: str) -> None:
        assert version.row is not None, "only a stored answer is sent back"
        self._begin(partial(self._generation.reply, version.row, remark))

    def _begin(self, begin: partial[None]) -> None:
        """Begin a batch and follow it; the typed text stays if it cannot begin."""
        try:
            begin()
        except KgtuiError as error:
            self._context.notify(str(error), severity="error")
            return
        self._entry.close()
        self._context.source.take_keys()
        self._shown, self._follows, self._drawn, self._has_begun = None, True, None, True
        self._context.notify("generating: answers stream here; esc returns to the file")

    async def _step(self, step: int) -> None:
        from kgtui.generation.display.versions import stepped

        await self._generation.fetch()
        versions = self._versions()
        version = stepped(versions, self._shown if self._context.bench.shown.candidate else None, step)
        if version is not None:
            self._follows = not version.is_settled
            self._drawn = None
            self._show(version, versions)
        else:
            words = f"no {'later' if step > 0 else 'earlier'} version" if versions else _NONE_YET
            self._context.notify(words)

    def _show_new(self, progress: GenerationProgress, rows: tuple[GenerationRow, ...]) -> None:
        from kgtui.generation.display.versions import next_shown, versions_of

        versions = versions_of(rows, progress, problem=self._context.bench.problem.name)
        version = next((one for one in versions if one.key == self._shown), None)
        if self._follows:
            version = next_shown(versions, self._shown, batch=progress.number)
            self._follows = self._generation.is_running or (version is not None and not version.is_settled)
        if version is not None:
            self._show(version, versions)

    def _show(self, version: Version, versions: tuple[Version, ...]) -> None:
        """Draw a version: its answer, its run so far, or its stored run."""
        context, text = self._context, self._text(version, versions)
        is_same = version.key == self._shown
        if is_same and context.bench.old is not None and context.bench.old.stage is CandidateStage.SETTLED:
            return
        self._shown = version.key
        if version.row is None:
            self._show_answer(version, stage=CandidateStage.ARRIVING, remark=text)
        elif version.run_number is not None:
            if not is_same:
                self._show_answer(version, stage=CandidateStage.QUEUED, remark=text)  # shown until its run is read
            self._history.show_candidate(version.run_number, label=version.label, remark=text)
        elif version.run is not None:
            self._show_answer(version, stage=CandidateStage.VERIFYING, remark=text)
        else:
            stage = CandidateStage.SETTLED if version.is_settled else CandidateStage.QUEUED
            self._show_answer(version, stage=stage, remark=text)

    def _show_answer(self, version: Version, *, stage: CandidateStage, remark: str) -> None:
        from kgtui.generation.display.versions import as_python

        context, run, before = self._context, version.run, self._context.bench.old
        source = version.source(context.bench.problem.entry)
        context.bench = candidate_shown(
            context.bench,
            version.label,
            stage=stage,
            began_s=context.host.clock(),
            view=run.record if run is not None else NO_RUN,
            number=run.number if run is not None else None,
            remark=remark,
            has_code=source is not None and version.row is not None,
        )
        if source is None and stage is CandidateStage.ARRIVING:
            context.source.grow(as_python(version.answer))
        else:
            context.source.load((source or as_python(version.answer)).encode())
        if run is not None or before is None or (before.candidate, before.stage) != (version.label, stage):
            context.draw()  # else only the text grew; the strip is drawn at each tick

    def _text(self, version: Version, versions: tuple[Version, ...]) -> str:
        from kgtui.generation.display.versions import arriving_text, stored_text

        if version.row is None:
            return arriving_text(version, self._generation.progress)
        return stored_text(version, versions.index(version) + 1, len(versions))

    def _stored(self) -> Version | None:
        """The shown candidate if its answer is stored; otherwise None, and a message."""
        if not self._context.bench.shown.candidate:
            self._context.notify(_NONE_SHOWN)
            return None
        version = next((one for one in self._versions() if one.key == self._shown), None)
        if version is None or version.row is None:
            self._context.notify(_NOT_THERE)
            return None
        return version

    def _versions(self) -> tuple[Version, ...]:
        from kgtui.generation.display.versions import versions_of

        generation = self._generation
        return versions_of(generation.rows, generation.progress, problem=self._context.bench.problem.name)

    @property
    def _generation(self) -> GenerationControl:
        return self._context.host.runs.generation

    @property
    def _entry(self) -> Entry:
        return self._context.screen.query_one("#entry", Entry)
