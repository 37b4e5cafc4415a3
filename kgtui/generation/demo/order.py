"""Answers of `kgtui demo`, and its fictitious prices."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from engine.devices import platform_named
from engine.devices.hardware.targets import DEFAULT_TARGET
from engine.model import Tier
from engine.problem_source import ProblemDescription
from kgtui.generation.batch import GenerationRequest, Task
from kgtui.generation.carrying_out import GenerationOrder
from kgtui.generation.prices import Price, PriceList
from kgtui.generation.records import ModelName, Sampling
from kgtui.generation.strategies import StrategyOptions
from problems.index import open_index
from sessions.candidates.generation_rows import Limits

RECORDING = Path(__file__).with_name("recording.json")
OPERATORS = ("aten::silu", "aten::softmax", "aten::add")
MODELS = (ModelName(provider="replay", model="alpha"), ModelName(provider="replay", model="beta"))
_BUDGET_MICROUSD = 2_000_000


def demo_order() -> GenerationOrder:
    """Refine in two rounds on the CPU, the smoke cases only: seconds instead of minutes."""
    index = open_index()
    request = GenerationRequest(
        operators=OPERATORS,
        models=MODELS,
        strategy="refine",
        options=StrategyOptions(rounds=2),
        sampling=Sampling(max_tokens=4000),
        device="cpu",
        target=DEFAULT_TARGET,
    )
    return GenerationOrder(
        request=request,
        tasks=tuple(Task(problem=index.find(name), description=index.describe(name)) for name in OPERATORS),
        limits=Limits(microusd=_BUDGET_MICROUSD),
        device=platform_named("cpu").detect()[0],
        concurrency=4,
        tiers=(Tier.SMOKE,),
    )


def demo_operators() -> tuple[ProblemDescription, ...]:
    """The operators of the demo, with their categories."""
    index = open_index()
    return tuple(map(index.describe, OPERATORS))


def demo_prices() -> PriceList:
    """Prices of the fictitious models: alpha is expensive, beta cheap."""
    return PriceList({"replay:alpha": _price("3", "15"), "replay:beta": _price("0.25", "1.25")}, origin="the demo")


def _price(input_usd: str, output_usd: str) -> Price:
    return Price(
        input_usd=Decimal(input_usd),
        output_usd=Decimal(output_usd),
        cached_usd=Decimal(input_usd) / 10,
        cache_write_usd=Decimal(input_usd),
    )
