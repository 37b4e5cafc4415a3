"""Which symptoms of the diagnosis wrong kernels show: those of the corpus, and a sample of mutants.

Run it as a program from the root of the repository:

    python -m tests.mutation.symptoms --record FILE [--most 6] [--engines 2] [--seed 1] [--kernels softmax mm]

FILE gets one JSON line for each kernel; kernels that are in it are not run again, so that a run can be stopped and
continued.  A wrong kernel of the corpus runs the case that it states first, and as many cases as are explained; a
mutant runs until its first wrong case.  Prints how many mutants and wrong kernels show each symptom, first and at
all, and for how many wrong kernels the first diagnosis is the one that their first line states.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import string
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.judge.diagnosis.symptom_words import WORDS
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import Candidate, CaseResult, Diagnosis, Plan, Tier
from engine.model.events import CaseFinished
from tests.candidates import candidates, stated
from tests.mutation.evaluation import LIMITS
from tests.mutation.score import chosen_mutants
from tests.operators import find

MUTANT, WRONG = "mutant", "wrong"
_UNEXAMINED = (None, "not_reached", "statistic")  # no value on the CPU, or no element that is wrong by itself
_MOST_EXPLAINED = 3  # cases of a run; the judge explains no more


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel to run; `case` is the one of the stated diagnosis, None for a mutant."""

    name: str
    group: str
    op: str
    source: str
    case: str | None = None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The symptoms that each wrong case of a kernel shows, first diagnosis first; none where nothing fits."""

    name: str
    group: str
    symptoms_by_case: dict[str, tuple[Symptom, ...]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, required=True, metavar="FILE")
    parser.add_argument("--kernels", nargs="*", default=[], help="honest kernels to mutate; all when none")
    parser.add_argument("--most", type=int, default=6, help="mutants that are drawn of each kernel")
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="what the inputs are drawn from")
    chosen = parser.parse_args()
    known = {one.name for one in read(chosen.record)}
    waiting = [one for one in kernels(chosen.kernels, most=chosen.most) if one.name not in known]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_run_all(waiting, chosen.record, engines=chosen.engines, seed=chosen.seed, folder=Path(folder)))
    print("\n".join(table(read(chosen.record))))
    return 0


def kernels(names: Sequence[str], *, most: int) -> Iterator[Kernel]:
    """The wrong kernels of the corpus with values to explain, then at most `most` mutants of each honest one."""
    for path in candidates("wrong"):
        said = stated(path)
        if said.diagnosis not in _UNEXAMINED:
            yield Kernel(name=path.stem, group=WRONG, op=said.op, source=path.read_text(), case=said.case)
    for mutant, op in chosen_mutants(names, most=most):
        yield Kernel(name=mutant.name, group=MUTANT, op=op, source=mutant.source)


def symptom_of(diagnosis: Diagnosis) -> Symptom:
    """The symptom that a diagnosis was worded from: of those with such a sentence, the one with most fixed words."""
    found = [one for one in Symptom if WORDS[one].kind is diagnosis.kind and _form(one).fullmatch(diagnosis.sentence)]
    return max(found, key=lambda one: len(_form(one).pattern))


def read(record: Path) -> tuple[Shown, ...]:
    """The kernels of a record; none where there is no file."""
    if not record.exists():
        return ()
    return tuple(_shown(json.loads(line)) for line in record.read_text().splitlines())


def table(shown: Sequence[Shown]) -> Iterator[str]:
    """Lines: how many kernels of each group show each symptom first and at all, and those of at most three."""
    counts = {group: sum(one.group == group for one in shown) for group in (MUTANT, WRONG)}
    yield f"{counts[MUTANT]} mutants, {counts[WRONG]} wrong kernels"
    yield f"{'symptom':20} {'mutants':>14} {'wrong kernels':>14}   (first/at all)"
    for symptom in Symptom:
        first = [one for one in shown if any(case[:1] == (symptom,) for case in one.symptoms_by_case.values())]
        every = [one for one in shown if any(symptom in case for case in one.symptoms_by_case.values())]
        cells = (f"{_count(first, group)}/{_count(every, group)}" for group in (MUTANT, WRONG))
        yield f"{symptom:20} " + " ".join(f"{cell:>14}" for cell in cells) + f"   {_names(every)}".rstrip()
    right = [path.stem for path in candidates("wrong") if _is_as_stated(path, shown)]
    asked = [path for path in candidates("wrong") if stated(path).diagnosis not in _UNEXAMINED]
    yield f"the first diagnosis is the stated one: {len(right)} of {len(asked)} wrong kernels"
    yield from (f"    not of {path.stem}" for path in asked if path.stem not in right)


def _names(shown: Sequence[Shown]) -> str:
    return ", ".join(one.name for one in shown) if len(shown) <= 3 else ""


def _count(shown: Iterable[Shown], group: str) -> int:
    return sum(one.group == group for one in shown)


def _is_as_stated(path: Path, shown: Sequence[Shown]) -> bool:
    """Whether the first diagnosis of the stated case of a wrong kernel is of the stated kind."""
    said = stated(path)
    of_case = [one.symptoms_by_case.get(said.case or "", ()) for one in shown if one.name == path.stem]
    first = next((WORDS[case[0]].kind.value for case in of_case if case), "none")
    return bool(of_case) and first == said.diagnosis


async def _run_all(waiting: Sequence[Kernel], record: Path, *, engines: int, seed: int, folder: Path) -> None:
    """Run the kernels with as many engines at once, each written as it ends."""
    left = iter(waiting)

    async def work(number: int) -> None:
        store = ArtefactStore(folder=folder / str(number))
        async with Engine(device="cpu", artefacts=store, environment=os.environ, limits=LIMITS) as engine:
            for kernel in left:
                shown = await _run(engine, kernel, seed=seed)
                with record.open("a") as file:
                    file.write(json.dumps(asdict(shown)) + "\n")

    await asyncio.gather(*(work(number) for number in range(engines)))


async def _run(engine: Engine, kernel: Kernel, *, seed: int) -> Shown:
    problem = find(kernel.op)
    plan = Plan.for_tiers(
        problem,
        tiers=(Tier.SMOKE, Tier.FULL),
        device="cpu",
        target=None,
        failed_before=(kernel.case,) if kernel.case is not None else (),
    )
    candidate = Candidate(source=kernel.source.encode(), problem=problem.name, filename="kernel.py", folder=None)
    found: dict[str, tuple[Symptom, ...]] = {}
    events = engine.evaluate(candidate, replace(plan, draw_seed=seed))
    async with contextlib.aclosing(events):
        async for event in events:
            if isinstance(event, CaseFinished) and (symptoms := _symptoms(event.result)) is not None:
                found[event.result.case] = symptoms
                if kernel.group == MUTANT or len(found) == _MOST_EXPLAINED:
                    break
    return Shown(name=kernel.name, group=kernel.group, symptoms_by_case=found)


def _symptoms(result: CaseResult) -> tuple[Symptom, ...] | None:
    """The symptoms of the first explained output of a case, None where no output was explained."""
    explanations = [one.explanation for one in result.outputs if one.explanation is not None]
    explained = [one for one in explanations if not one.untried]
    return tuple(map(symptom_of, explained[0].diagnoses)) if explained else None


@cache
def _form(symptom: Symptom) -> re.Pattern[str]:
    """What the sentences about a symptom match."""
    parts = string.Formatter().parse(WORDS[symptom].sentence)
    return re.compile("".join(re.escape(text) + ("" if field is None else ".*") for text, field, *_ in parts))


def _shown(line: dict[str, object]) -> Shown:
    by_case = line["symptoms_by_case"]
    assert isinstance(by_case, dict)
    return Shown(
        name=str(line["name"]),
        group=str(line["group"]),
        symptoms_by_case={case: tuple(map(Symptom, symptoms)) for case, symptoms in by_case.items()},
    )


if __name__ == "__main__":
    sys.exit(main())
