"""`kgtui mcp`: a server for coding agents on standard input and output, over one warm engine."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from typing import TYPE_CHECKING

from engine.devices import Device
from engine.errors import UsageError
from engine.model import Tier
from kgtui.cli.argument_groups import add_device, add_problems
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import place_for
from kgtui.cli.runs.artefact_folder import artefact_folder
from kgtui.cli.runs.run_command import EngineFactory, StartedEngine, real_engine
from kgtui.cli.runs.run_recorder import open_recording
from kgtui.runner.driver import RunDriver
from kgtui.runner.run_environment import environment_of
from kgtui.runner.run_queue import RunQueue
from kgtui.settings.paths import find_paths
from problems.index import ProblemIndex

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from kgtui.history.recorder import StoreRecording

SUMMARY = "Serve coding agents over the Model Context Protocol (stdio)."
GROUP = Group.MODELS
STARTS_ENGINE = True

LABEL = "mcp"


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui mcp`."""
    parser.usage = f"{parser.prog} [--device DEVICE] [--target TARGET] [--problems DIR] [--skill]"
    parser.epilog = "`kgtui manual agents` describes the tools; an agent starts this command itself."
    add_device(parser)
    add_problems(parser)
    parser.add_argument("--skill", action="store_true", help="print a SKILL.md for the agent, and serve nothing")


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Serve until the agent closes the connection.

    Raises:
        KgtuiError: the SDK is missing, or the engine cannot run on this machine.
    """
    if options.skill:
        from kgtui.generation.agents.guide import skill_text

        console.write_document(skill_text())
        return Exit.PASSED
    device, target = place_for(options, console, file=None)
    operators, paths = problem_index(options, console), find_paths(console.environment)
    with (
        open_recording(paths, label=LABEL, environment=environment_of(device), warn=console.warn) as recording,
        artefact_folder(paths, is_kept=True, warn=console.warn) as artefacts,
    ):
        if recording is None:
            raise UsageError("runs of agents must be stored, so the server does not start without a store")
        queue = RunQueue(on_trouble=console.warn)
        server = _server(console, recording, queue, operators=operators, device=device, target=target)
        engine = (engine_factory or real_engine)(
            device=device.platform, artefacts=artefacts, environment=console.environment, warm_target=target
        )
        driver = RunDriver(engine, recording=recording, on_trouble=console.warn)
        asyncio.run(_serve(server, engine, queue, driver))
    return Exit.PASSED


def _server(
    console: Console,
    recording: StoreRecording,
    queue: RunQueue,
    *,
    operators: ProblemIndex,
    device: Device,
    target: str | None,
) -> MCPServer:
    """The server with its tools, not started yet."""
    from kgtui.cli.runs.generation_run import user_prompts
    from kgtui.generation.agents.server import make_server
    from kgtui.generation.agents.tools import ToolMeans
    from kgtui.generation.carrying_out import benchmark_of
    from kgtui.generation.prompts import Hardware
    from kgtui.generation.verifying import QueuedVerifier, RunConditions, Verifier, queued
    from kgtui.ports.requests import AGENT_TAG

    def verifier_of(tiers: tuple[Tier, ...], is_timed: bool) -> Verifier:
        conditions = RunConditions(
            device=device.platform,
            target=target,
            benchmark=benchmark_of(device.platform) if is_timed else lambda problem: None,
            tiers=tiers,
            tag=AGENT_TAG,
        )
        return QueuedVerifier(queued(queue), conditions, trouble=console.warn, drop=queue.drop)

    means = ToolMeans(
        operators=operators,
        recording=recording,
        verifier_of=verifier_of,
        prompts=user_prompts(find_paths(console.environment)),
        hardware=Hardware(name=device.name, target=target),
        versions=environment_of(device),
    )
    return make_server(means)


async def _serve(server: MCPServer, engine: StartedEngine, queue: RunQueue, driver: RunDriver) -> None:
    async with engine:
        serving = asyncio.create_task(queue.serve(driver))
        try:
            await server.run_stdio_async()
        finally:
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving
