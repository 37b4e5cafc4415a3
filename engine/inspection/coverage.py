"""The verified inputs of a run: their number by type and tier, and their sizes, layouts and options.

Only counts cases.  A case that the problem no longer has is counted under "unknown".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.model import CaseResult, Outcome, Parameter, Problem, Tier
from engine.model.counts import counted

_MOST_NAMED = 8
_LEAST_EDGE = 16  # smaller sizes are adjacent by chance


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Number of verified cases of one element type and tier, and of right ones among them."""

    dtype: str
    tier: Tier
    passed: int
    judged: int


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One parameter of the cases, and its verified values, in words."""

    name: str
    values: str


def tallies_of(results: Sequence[CaseResult], problem: Problem) -> tuple[Tally, ...]:
    """Tallies by element type in the order of the problem, and by tier."""
    dtype_by_case = {case.name: case.dtype.short for case in problem.cases}
    groups: dict[tuple[str, Tier], list[CaseResult]] = {}
    for result in results:
        groups.setdefault((dtype_by_case.get(result.case, "unknown"), result.tier), []).append(result)
    types, tiers = tuple(dict.fromkeys((*dtype_by_case.values(), "unknown"))), tuple(Tier)
    return tuple(
        Tally(
            dtype=dtype,
            tier=tier,
            judged=len(group),
            passed=sum(result.outcome is Outcome.PASS for result in group),
        )
        for (dtype, tier), group in sorted(
            groups.items(), key=lambda item: (types.index(item[0][0]), tiers.index(item[0][1]))
        )
    )


def axes_of(results: Sequence[CaseResult], problem: Problem) -> tuple[Axis, ...]:
    """Every parameter of the verified cases, those with sizes first."""
    judged = {result.case for result in results}
    cases = [case for case in problem.cases if case.name in judged]
    names = dict.fromkeys(name for case in cases for name in case.params)
    values_by_name = {name: [case.params[name] for case in cases if name in case.params] for name in names}
    ordered = sorted(values_by_name.items(), key=lambda item: not any(map(_sizes, item[1])))
    return tuple(Axis(name=name, values=_values_text(values)) for name, values in ordered)


def _values_text(values: Sequence[Parameter]) -> str:
    sizes = [size for value in values for size in _sizes(value)]
    words = [str(value) for value in values if not _sizes(value)]
    parts = [_spread(sizes)] if sizes else []
    counts = Counter(words).most_common()
    parts += [f"{word} ({counted(count, 'case')})" for word, count in counts[:_MOST_NAMED]]
    if len(counts) > _MOST_NAMED:
        parts.append(f"and {len(counts) - _MOST_NAMED} more")
    return ", ".join(parts)


def _sizes(value: Parameter) -> tuple[int, ...]:
    """The integers of a value; none for a word, a boolean or a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | tuple):
        return ()
    return value if isinstance(value, tuple) else (value,)


def _spread(sizes: Sequence[int]) -> str:
    """Few numbers one by one; many as their range, with every power of two that has both of its neighbours."""
    different = sorted(set(sizes))
    if len(different) <= _MOST_NAMED:
        return ", ".join(map(str, different))
    edges = ", ".join(map(str, _edges(set(different))))
    least, next_to_least, *_, most = different
    around = f"; below, at and above {edges}" if edges else ""
    return f"{least}, {next_to_least} to {most}, {len(different)} different values{around}"


def _edges(sizes: set[int]) -> Iterator[int]:
    power = _LEAST_EDGE
    while power <= max(sizes):
        if {power - 1, power, power + 1} <= sizes:
            yield power
        power *= 2
