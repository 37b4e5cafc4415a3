"""The mutation score: how many mistakes in right kernels the SMOKE and FULL cases reject.

Run it as a program from the root of the repository:

    python -m tests.mutation.score [--kernels softmax_autotune mm | --draw 40 --seed 0] [--most 40] [--engines 2]

`--draw` takes that many kernels by the hashes of seed and name: one of each source and category, then a second
of each, and so on.  `--most` draws that many mutants of each kernel, by the hashes of their names; without it
all are evaluated.
Prints every survivor and what is said of it in known.py, and the tables last.  Exits with 1 where the
score is below the goal, a mutant could not be evaluated, or known.py calls one equivalent that was rejected.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from engine.model import Tier
from engine.static.source import directives
from tests.mutation.evaluation import Evaluated, Fate, evaluate_all
from tests.mutation.known import EQUIVALENT, UNSEEN
from tests.mutation.mutants import Mutant, drawn, mutants_of
from tests.operators import find

HONEST = Path(__file__).parents[1] / "corpus" / "honest"
GOAL_PERCENT = 97.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", nargs="*", default=[], help="names of files in tests/corpus/honest; all when none")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="mutants that are drawn of each kernel")
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument("--draw", type=int, default=0, help="kernels that are drawn over all sources and categories")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other kernels")
    chosen = parser.parse_args()
    kernels = drawn_kernels(chosen.draw, seed=chosen.seed) if chosen.draw else chosen.kernels
    mutants = list(chosen_mutants(kernels, most=chosen.most))
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        evaluated = asyncio.run(
            evaluate_all(
                mutants, engines=chosen.engines, folder=Path(folder), on_evaluated=_Progress(len(mutants)).tell
            )
        )
    print(f"\n{len(evaluated)} mutants in {time.monotonic() - started_s:.0f} s with {chosen.engines} engines\n")
    return report(sorted(evaluated, key=lambda one: one.mutant.name))


def drawn_kernels(most: int, *, seed: int) -> tuple[str, ...]:
    """At most `most` honest kernels: the first of every source and category by hash, then the second of each."""
    groups: dict[tuple[str, str], list[str]] = {}
    for path in HONEST.glob("*.py"):
        problem = find(directives(path.read_text())["op"])
        groups.setdefault((problem.library, problem.category), []).append(path.stem)
    ranked = [
        (rank, hashed, name)
        for names in groups.values()
        for rank, (hashed, name) in enumerate(sorted((_hash(seed, name), name) for name in names))
    ]
    return tuple(name for _, _, name in sorted(ranked)[:most])


def _hash(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}:{name}".encode()).digest()


def chosen_mutants(kernels: Sequence[str], *, most: int) -> Iterable[tuple[Mutant, str]]:
    """At most `most` mutants of each kernel, with the problem that it solves."""
    for path in sorted(HONEST.glob("*.py")):
        if not kernels or path.stem in kernels:
            source = path.read_text()
            for mutant in drawn(mutants_of(source, kernel=path.stem), most):
                yield mutant, directives(source)["op"]


def report(evaluated: Sequence[Evaluated]) -> int:
    """Print survivors and tables; the exit code."""
    refuted = [one for one in evaluated if one.mutant.name in EQUIVALENT and one.fate is not Fate.SURVIVED]
    undecided = [one for one in evaluated if one.fate is Fate.UNDECIDED]
    for title, chosen in (("could not be evaluated", undecided), ("called equivalent, but rejected", refuted)):
        for one in chosen:
            print(f"{title}: {one.mutant.name} ({one.case}: {one.message})")
    for one in evaluated:
        if one.fate is Fate.SURVIVED:
            name = one.mutant.name
            said = f"equivalent: {EQUIVALENT[name]}" if name in EQUIVALENT else UNSEEN.get(name, "not examined")
            print(f"survived {name}\n    {one.mutant.before}\n    {one.mutant.after}\n    {said}")
    _print_table("kernel", evaluated, lambda one: one.mutant.kernel)
    _print_table("kind", evaluated, lambda one: one.mutant.kind)
    return 1 if undecided or refuted or _percent(evaluated) < GOAL_PERCENT else 0


def _print_table(heading: str, evaluated: Sequence[Evaluated], group_of: Callable[[Evaluated], str]) -> None:
    columns = ("mutants", "stillborn", "equivalent", "smoke", "full", "survived", "score")
    print(f"\n{heading:34} " + " ".join(f"{column:>10}" for column in columns))
    groups = {group_of(one): [other for other in evaluated if group_of(other) == group_of(one)] for one in evaluated}
    for name, group in (*sorted(groups.items()), ("all", evaluated)):
        rejected = [one for one in group if one.fate is Fate.REJECTED]
        smoke = sum(one.tier is not Tier.FULL for one in rejected)
        stillborn = sum(one.fate is Fate.STILLBORN for one in group)
        counts = (len(group), stillborn, _equivalent(group), smoke, len(rejected) - smoke, _survived(group))
        print(f"{name:34} " + " ".join(f"{count:10}" for count in counts) + f" {_percent(group):9.1f}%")


def _equivalent(group: Sequence[Evaluated]) -> int:
    return sum(one.fate is Fate.SURVIVED and one.mutant.name in EQUIVALENT for one in group)


def _survived(group: Sequence[Evaluated]) -> int:
    return sum(one.fate is Fate.SURVIVED and one.mutant.name not in EQUIVALENT for one in group)


def _percent(group: Sequence[Evaluated]) -> float:
    """Rejected mutants in every hundred that run and are not equivalent."""
    rejected = sum(one.fate is Fate.REJECTED for one in group)
    return 100.0 * rejected / max(1, rejected + _survived(group))


class _Progress:
    """A line for every mutant, so that a long run is seen to move."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._ended = 0

    def tell(self, one: Evaluated) -> None:
        self._ended += 1
        print(f"{self._ended}/{self._total} {one.fate:10} {one.mutant.name} {one.case}: {one.message[:90]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
