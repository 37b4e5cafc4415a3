"""`kgtui demo`: two fictitious models on three operators, from recorded answers; needs no key and no GPU.

On a terminal it opens the workbench, which generates them; elsewhere it prints the results.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
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
    "Recorded answers of two fictitious models, verified by the engine on the CPU. Prices are fictitious too; nothing "
    "is sent anywhere."
)


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui demo`."""
    parser.usage = f"{parser.prog} [--keep] [--plain | --json]"
    parser.add_argument("--keep", action="store_true", help="save the session in your own store")
    parser.add_argument("--plain", action="store_true", help="print matrix and costs, also on a terminal")
    add_json(parser)


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Open the workbench on the recorded batch, or carry it out and print matrix, metrics and costs.

    Raises:
        KgtuiError: the engine cannot run on this machine.
    """
    from kgtui.generation.demo.order import RECORDING
    from kgtui.generation.providers.replay import FILE_VARIABLE
    from kgtui.settings.paths import HOME_VARIABLE

    is_drawn = console.has_terminal and console.environment.get("TERM") != "dumb"
    with tempfile.TemporaryDirectory(prefix="kgtui-demo-", ignore_cleanup_errors=True) as folder:
        home = {} if options.keep else {HOME_VARIABLE: folder}
        console = replace(console, environment={**console.environment, **home, FILE_VARIABLE: str(RECORDING)})
        if is_drawn and not (options.plain or options.json):
            return _open(options, console, folder=console.folder if options.keep else Path(folder))
        return _print(console, as_json=options.json, engine_factory=engine_factory)


def _open(options: argparse.Namespace, console: Console, *, folder: Path) -> int:
    """Show the workbench, which generates the batch; kernel files are in `folder`."""
    from kgtui.app.start import PreparedBatch, Settings
    from kgtui.cli.commands.open import show_workbench
    from kgtui.cli.resolved_settings import kernels_of, load_quietly
    from kgtui.generation.demo.order import demo_order, demo_prices
    from kgtui.settings.paths import find_paths
    from problems.index import open_index

    order, preferences = demo_order(), load_quietly(options, console)
    settings = Settings(
        folder=folder,
        kernels=kernels_of(preferences, folder),
        device=order.device.platform,
        target=order.request.target,
        environment=console.environment,
        preferences=preferences,
        data=find_paths(console.environment).data,
    )
    batch = PreparedBatch(order=order, prices=demo_prices())
    return show_workbench(settings, console, device=order.device, problems=open_index(), batch=batch)


def _print(console: Console, *, as_json: bool, engine_factory: EngineFactory | None) -> int:
    """Carry out the batch, then print matrix, metrics and costs."""
    from kgtui.cli.runs.generation_run import generate
    from kgtui.generation.comparing.comparison import comparison_of
    from kgtui.generation.comparing.groups import groups_from
    from kgtui.generation.demo.order import demo_operators, demo_order, demo_prices
    from kgtui.generation.reports import documents
    from kgtui.generation.reports.costs import costs_text
    from sessions.candidates.generation_rows import CostBy

    def close(recording: StoreRecording, generated: Generated) -> int:
        found = comparison_of(recording.generations.of_batch(generated.batch), groups_of=groups_from(demo_operators()))
        if as_json:
            console.write_document(documents.as_json(found))
        else:
            costs = recording.generations.costs(CostBy.MODEL, session=generated.session)
            console.say(f"\n{documents.as_text(found)}\n\n{costs_text(costs, CostBy.MODEL)}")
        return Exit.PASSED

    if not as_json:
        console.say(f"{_ABOUT}\n")
    return generate(
        demo_order(),
        console,
        close=close,
        engine_factory=engine_factory,
        prices=demo_prices(),
        label=LABEL,
        is_aside=as_json,
    )
