"""`kgtui generate`: kernels from language models, each verified as it arrives."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import UsageError
from kgtui.cli.argument_groups import add_device, add_problems, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.operators.patterns import suite_or_typed
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import place_for
from kgtui.cli.runs.run_command import EngineFactory

if TYPE_CHECKING:
    from kgtui.generation.batch import Task
    from kgtui.generation.carrying_out import Generated, GenerationOrder
    from kgtui.generation.progress import GenerationProgress
    from kgtui.generation.strategies import StrategyOptions
    from kgtui.history.recorder import StoreRecording

SUMMARY = "Generate kernels with language models and verify each."
GROUP = Group.MODELS
STARTS_ENGINE = True

_EFFORTS = ("low", "medium", "high")
_STRATEGY_FLAGS = {"samples": "-n", "rounds": "--rounds", "target_speedup": "--target-speedup"}


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui generate`."""
    from kgtui.generation.strategies import DEFAULT, strategy_names

    parser.usage = (
        f"{parser.prog} OP [OP ...] --model PROVIDER:MODEL [--model ...] [options]\n"
        f"       {parser.prog} --suite PATH [OP ...] --model PROVIDER:MODEL [--model ...] [options]"
    )
    parser.epilog = (
        "keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY; a local server is\n"
        "openai:MODEL@URL. `kgtui manual models` describes strategies, budgets and prices."
    )
    parser.add_argument(
        "ops", metavar="OP", nargs="*", help="operators, or patterns such as 'aten::*' (default: all of --suite)"
    )
    add_problems(parser)
    parser.add_argument(
        "--model", metavar="PROVIDER:MODEL", dest="models", action="append", required=True, help="a model; repeatable"
    )
    parser.add_argument("-n", metavar="N", dest="samples", type=positive_integer,
                        help="answers (single), or the size of a population (evolve); default: 1")  # fmt: skip
    parser.add_argument("--strategy", choices=strategy_names(), default=DEFAULT, help="how answers are improved")
    parser.add_argument("--rounds", metavar="N", type=positive_integer, help="rounds of refine and evolve (default: 4)")
    parser.add_argument("--target-speedup", metavar="X", type=float, help="refine and evolve stop at this speed-up")
    parser.add_argument(
        "--budget", metavar="AMOUNT", nargs="+", action="extend", default=[],
        help="limits such as 2usd, 200000tok, 30min; no request is sent that could exceed one",
    )  # fmt: skip
    parser.add_argument(
        "--max-tokens", metavar="N", type=positive_integer, help="most output tokens of one answer (default: 16000)"
    )
    parser.add_argument("--temperature", metavar="T", type=float, help="sampling temperature (default: the provider's)")
    parser.add_argument("--seed", metavar="N", type=positive_integer, help="sampling seed, for providers that take one")
    parser.add_argument("--effort", choices=_EFFORTS, help="reasoning effort, for reasoning models")
    parser.add_argument("--remark", metavar="TEXT", default="", help="a sentence added to the prompt")
    parser.add_argument(
        "--concurrency", metavar="N", type=positive_integer, default=8, help="most requests in flight (default: 8)"
    )
    parser.add_argument("--resume", action="store_true", help="continue the unfinished batch with these arguments")
    parser.add_argument("--estimate", action="store_true", help="print what the batch may cost, and send nothing")
    add_device(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, progress on the error stream")


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Generate, verify, and print the matrix of models and operators.

    Raises:
        KgtuiError: it cannot begin; the message says why.
    """
    from kgtui.cli.runs.generation_run import generate
    from kgtui.generation.comparing.comparison import comparison_of
    from kgtui.generation.comparing.groups import groups_from
    from kgtui.generation.reports.documents import as_json, as_text

    order = read_order(options, console)
    if options.estimate:
        return _estimate(order, console)

    def close(recording: StoreRecording, generated: Generated) -> int:
        groups = groups_from(task.description for task in order.tasks)
        found = comparison_of(recording.generations.of_batch(generated.batch), groups_of=groups)
        if options.json:
            console.write_document(as_json(found))
        else:
            console.say(as_text(found))
        return _exit_of(generated.progress)

    return generate(order, console, close=close, engine_factory=engine_factory, is_aside=options.json)


def _exit_of(progress: GenerationProgress) -> Exit:
    """That of the best candidate; where errors ended the batch before any verdict, that of an error of the engine."""
    from sessions.candidates.generation_rows import Ending

    if progress.passed:
        return Exit.PASSED
    is_failed = progress.ended is not None and progress.ended.ending is Ending.FAILED
    return Exit.ENGINE if is_failed and not progress.verified and not progress.without_code else Exit.FAILED


def read_order(options: argparse.Namespace, console: Console) -> GenerationOrder:
    """The order of the command line.

    Raises:
        KgtuiError: an operator, a model or an amount is invalid.
    """
    from kgtui.generation.batch import GenerationRequest, suites_of
    from kgtui.generation.budget import parse_budget
    from kgtui.generation.carrying_out import GenerationOrder
    from kgtui.generation.providers import provider_module
    from kgtui.generation.records import DEFAULT_MAX_TOKENS, Effort, Sampling, parse_model

    models = tuple(dict.fromkeys(map(parse_model, options.models)))
    for model in models:
        provider_module(model.provider)
    device, target = place_for(options, console, file=None)
    tasks = _tasks(options, console)
    request = GenerationRequest(
        operators=tuple(task.problem.name for task in tasks),
        models=models,
        strategy=options.strategy,
        options=_strategy_options(options),
        sampling=Sampling(
            max_tokens=options.max_tokens or DEFAULT_MAX_TOKENS,
            temperature=options.temperature,
            seed=options.seed,
            effort=Effort(options.effort) if options.effort else None,
        ),
        device=device.platform,
        target=target,
        suites=suites_of(tasks),
    )
    return GenerationOrder(
        request=request,
        tasks=tasks,
        limits=parse_budget(tuple(options.budget)),
        device=device,
        concurrency=options.concurrency,
        resume=options.resume,
    )


def _strategy_options(options: argparse.Namespace) -> StrategyOptions:
    """The options of the strategy.

    Raises:
        UsageError: one is given that has no effect on this strategy.
    """
    from kgtui.generation.strategies import StrategyOptions, strategy_module

    given = {name: getattr(options, name) for name in _STRATEGY_FLAGS if getattr(options, name) is not None}
    reads = strategy_module(options.strategy).READS
    for name in given:
        if name not in reads:
            known = " and ".join(_STRATEGY_FLAGS[read] for read in reads)
            raise UsageError(f"{_STRATEGY_FLAGS[name]} has no effect with the strategy {options.strategy}; use {known}")
    return replace(StrategyOptions(remark=options.remark), **given)


def _tasks(options: argparse.Namespace, console: Console) -> tuple[Task, ...]:
    """The requested operators, or the whole suite; of several, those that cannot be verified are left out.

    Raises:
        UsageError: there is no such operator, none was given, or none can be verified.
    """
    from kgtui.generation.batch import Task

    index = problem_index(options, console)
    names = suite_or_typed(options.ops, options, console, index=index)
    if names is None:
        raise UsageError(
            "which operator? `kgtui generate OP --model PROVIDER:MODEL`; --suite PATH alone is all its tasks"
        )
    tasks = tuple(Task(problem=index.find(name), description=index.describe(name)) for name in names)
    ready = tuple(task for task in tasks if not task.refusal)
    if ready:
        for task in tasks:
            if task.refusal:
                console.warn(f"{task.problem.name} is left out, it cannot be verified: {task.refusal}")
        return ready
    raise UsageError(f"no task can be verified; {tasks[0].problem.name}: {tasks[0].refusal}")


def _estimate(order: GenerationOrder, console: Console) -> int:
    """Print the expected cost of the batch, from stored answers of the same models."""
    from kgtui.generation.comparing.estimates import estimate_lines
    from kgtui.settings.paths import find_paths
    from sessions import open_store

    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        for text in estimate_lines(order.request, store.generations.of_every_session(), answers=order.answers):
            console.say(text)
    return Exit.PASSED
