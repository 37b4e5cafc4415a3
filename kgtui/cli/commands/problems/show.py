"""`kgtui problems show`: one operator in full."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from engine.model import Problem
from engine.problem_source import ProblemDescription
from kgtui.cli.argument_groups import add_json, add_problems
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.operators.listing import document_text, page_text

SUMMARY = "Show an operator: its signature, contract, cases and tolerances."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui problems show`."""
    parser.usage = f"{parser.prog} OP [--json | --prompt]"
    parser.add_argument("op", metavar="OP", nargs="?", help="the operator")
    add_problems(parser)
    add_json(parser)
    parser.add_argument("--prompt", action="store_true", help="the prompt for a language model")
    parser.add_argument("--target", metavar="TARGET", help="target of the prompt: sm_90, gfx942, none")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the operator.

    Raises:
        UsageError: no operator was given, or there is none of that name.
    """
    if options.op is None:
        raise UsageError("which operator? `kgtui problems show OP`; `kgtui problems list` names them")
    index = problem_index(options, console)
    problem = index.find(options.op)
    if options.prompt:
        console.write_document(_prompt(options, console, problem, index.describe(problem.name)))
    elif options.json:
        console.write_document(document_text([problem]))
    else:
        from engine.judge.baselines import baseline_names

        console.say(page_text(problem, index.describe(problem.name), baselines=baseline_names()))
    return Exit.PASSED


def _prompt(options: argparse.Namespace, console: Console, problem: Problem, description: ProblemDescription) -> str:
    """The messages as `kgtui generate` sends them, for this machine's device or the given target."""
    from kgtui.cli.resolved_settings import place_for
    from kgtui.cli.runs.generation_run import user_prompts
    from kgtui.generation.prompts import Hardware, prompt_text
    from kgtui.settings.paths import find_paths

    device, target = place_for(options, console, file=None)
    prompts = user_prompts(find_paths(console.environment))
    return prompt_text(prompts.problem(problem, description, Hardware(name=device.name, target=target))).rstrip()
