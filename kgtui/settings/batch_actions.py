"""The actions of the Batch screen."""

from __future__ import annotations

from kgtui.settings.action import Action, Where

BATCH = (
    Action(id="open-run", keys=("enter",), label="open", help="open the run of this candidate in the workbench",
           group="Batch", where=Where.BATCH, call="screen.open_run", bar=True),
    Action(id="begin-batch", keys=("r",), label="new batch", help="type a folder or .jsonl file, then verify it",
           group="Batch", where=Where.BATCH, call="screen.ask", bar=True),
    Action(id="resume-batch", keys=("R",), label="resume", help="run the rest of this batch", group="Batch",
           where=Where.BATCH, call="screen.resume", bar=True),
    Action(id="failed-candidates", keys=("f",), label="failed", help="show only candidates that did not pass, or all",
           group="Batch", where=Where.BATCH, call="screen.failed", bar=True),
    Action(id="older-batch", keys=("left_square_bracket",), label="older", help="show the next older batch",
           group="Batch", where=Where.BATCH, call="screen.step(1)"),
    Action(id="newer-batch", keys=("right_square_bracket",), label="newer", help="show the next newer batch",
           group="Batch", where=Where.BATCH, call="screen.step(-1)"),
    Action(id="copy-batch", keys=("Y",), label="copy", help="copy summary and results as Markdown", group="Batch",
           where=Where.BATCH, call="screen.copy_result"),
    Action(id="leave-batch", keys=("escape",), label="back", help="stop typing, then the batch; then go back",
           group="Batch", where=Where.BATCH, call="screen.step_back", bar=True, priority=True, keep=2),
)  # fmt: skip
