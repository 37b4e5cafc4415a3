"""The actions of the Models screen."""

from __future__ import annotations

from kgtui.settings.action import Action, Where

MODELS = (
    *(
        Action(id=f"show-{name}", keys=(str(number),), label=name, help=help, group="Models", where=Where.MODELS,
               call=f"screen.tab('{name}')")
        for number, (name, help) in enumerate((
            ("candidates", "the generated candidates of the open operator"),
            ("matrix", "every model on every operator; enter compares the models of a cell"),
            ("metrics", "correctness, pass@k and speed-up of each model, also by source and category"),
            ("curves", "operators solved, or speed-up, against cost or answers"),
            ("cost", "cost of each model, and per correct kernel"), ("prices", "the price of each model"),
        ), start=1)
    ),
    Action(id="next-table", keys=("right_square_bracket",), label="next table", help="the next table", group="Models",
           where=Where.MODELS, call="screen.turn_tab(1)"),
    Action(id="previous-table", keys=("left_square_bracket",), label="previous table", help="the previous table",
           group="Models", where=Where.MODELS, call="screen.turn_tab(-1)"),
    Action(id="quantity", keys=("m",), label="measure", group="Models", where=Where.MODELS, call="screen.quantity",
           help="curves of solved operators, or of speed-up", bar=True),
    Action(id="spent", keys=("x",), label="axis", group="Models", where=Where.MODELS, call="screen.spent",
           help="curves against cost, or against answers, of each operator", bar=True),
    Action(id="open-run", keys=("enter",), label="open", group="Models", where=Where.MODELS,
           help="open the run of this candidate; in the matrix compare models", call="screen.open_run", bar=True),
    Action(id="generate", keys=("r",), label="generate", help="type models and a budget, then generate",
           group="Models", where=Where.MODELS, call="screen.ask", bar=True),
    Action(id="resume-generation", keys=("R",), label="resume", group="Models", where=Where.MODELS,
           help="resume a batch that was cut off", call="screen.resume", bar=True),
    Action(id="copy-models", keys=("Y",), label="copy", help="copy the comparison as Markdown", group="Models",
           where=Where.MODELS, call="screen.copy_result"),
    Action(id="leave-models", keys=("escape",), label="back", help="stop typing, then generating; then go back",
           group="Models", where=Where.MODELS, call="screen.step_back", bar=True, priority=True, keep=2),
)  # fmt: skip
