"""`kgtui demo`: two made-up models on three operators, from recorded answers; no key and no GPU needed."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

from kgtui.cli.argument_groups import add_json
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.cli.runs.run_command import EngineFactory

if TYPE_CHECKING:
    from kgtui.generation.carrying_out import Generated
    from kgtui.history.recorder import StoreRecording

SUMMARY = "Show generation with recorded answers: two models, three operators."
GROUP = Group.MODELS
STARTS_ENGINE = True

LABEL = "demo"
_ABOUT = (
    "Recorded answers of two made-up models, verified now by the engine on the CPU. Prices are made up too; nothing is "
    "sent anywhere."
)


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui demo`."""
    parser.usage = f"{parser.prog} [--keep] [--json]"
    parser.add_argument("--keep", action="store_true", help="save the session in your own store")
    add_json(parser)


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Carry out the recorded batch, then print matrix, metrics and costs.

    Raises:
        KgtuiError: the engine cannot run here.
    """
    from kgtui.cli.runs.generation_run import generate
    from kgtui.generation.comparing.comparison import comparison_of
    from kgtui.generation.comparing.groups import groups_from
    from kgtui.generation.demo.order import RECORDING, demo_operators, demo_order, demo_prices
    from kgtui.generation.providers.replay import FILE_VARIABLE
    from kgtui.generation.reports import documents
    from kgtui.generation.reports.costs import costs_text
    from kgtui.settings.paths import HOME_VARIABLE
    from sessions.candidates.generation_rows import CostBy

    def close(recording: StoreRecording, generated: Generated) -> int:
        found = comparison_of(recording.generations.of_batch(generated.batch), groups_of=groups_from(demo_operators()))
        if options.json:
            console.hand_out(documents.as_json(found))
        else:
            costs = recording.generations.costs(CostBy.MODEL, session=generated.session)
            console.say(f"\n{documents.as_text(found)}\n\n{costs_text(costs, CostBy.MODEL)}")
        return Exit.PASSED

    if not options.json:
        console.say(f"{_ABOUT}\n")
    with tempfile.TemporaryDirectory(prefix="kgtui-demo-") as folder:
        home = {} if options.keep else {HOME_VARIABLE: folder}
        environment = {**console.environment, **home, FILE_VARIABLE: str(RECORDING)}
        return generate(
            demo_order(),
            replace(console, environment=environment),
            close=close,
            engine_factory=engine_factory,
            prices=demo_prices(),
            label=LABEL,
            is_aside=options.json,
        )
