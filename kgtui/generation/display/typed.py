"""Text of the Models screen's input: models, a strategy, the number of answers and a budget, in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.errors import UsageError
from kgtui.generation.budget import parse_budget
from kgtui.generation.providers import provider_module
from kgtui.generation.records import ModelName, parse_model
from kgtui.generation.strategies import DEFAULT, StrategyOptions, strategy_module, strategy_names
from sessions.candidates.generation_rows import Limits

EXAMPLE = "anthropic:MODEL refine n=4 2usd"


@dataclass(frozen=True, kw_only=True)
class TypedGeneration:
    """A batch as typed by the user."""

    models: tuple[ModelName, ...]
    strategy: str
    options: StrategyOptions
    limits: Limits


def parse_wanted(text: str, *, remark: str = "") -> TypedGeneration:
    """The words of a line such as "anthropic:MODEL refine n=4 2usd"; what follows `--` is a remark for the model.

    Raises:
        UsageError: a word is invalid, or no model is among them.
    """
    head, _, said = text.partition(" -- ")
    models: dict[ModelName, None] = {}
    strategy, answers, budget = DEFAULT, None, list[str]()
    for word in head.split():
        if ":" in word:
            models[parse_model(word)] = None
        elif word in strategy_names():
            strategy = word
        elif word.startswith("n="):
            answers = _number(word)
        elif word[0].isdigit() or word[0] in "+-.":
            budget.append(word)
        else:
            strategies = ", ".join(strategy_names())
            raise UsageError(
                f"{word[:40]!r} is no model (PROVIDER:MODEL), strategy ({strategies}) or budget; "
                f"type for example: {EXAMPLE}"
            )
    limits = parse_budget(tuple(budget), option="")
    if not models:
        raise UsageError(f"which model? type for example: {EXAMPLE}")
    for model in models:
        provider_module(model.provider)
    options = StrategyOptions(remark=said.strip() or remark)
    if answers is not None and "samples" in strategy_module(strategy).READS:
        options = replace(options, samples=answers)
    elif answers is not None:
        options = replace(options, rounds=answers)
    return TypedGeneration(models=tuple(models), strategy=strategy, options=options, limits=limits)


def _number(word: str) -> int:
    if not word[2:].isdecimal():
        raise UsageError(f"{word[:40]!r}: expected a number of answers such as n=4")
    return int(word[2:])
