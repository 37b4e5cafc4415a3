"""Queries for browsing: pages of runs in both directions, totals, and the progress of a file.

Pages are keyed by the run's number, never by an offset.  Nothing here writes.
"""

from __future__ import annotations

import sqlite3

from engine.model import Outcome
from engine.model.benchmark import Interval
from sessions.queries.narrowing import narrowing, where
from sessions.queries.reading import EVERY_RUN, Reader
from sessions.rows import VARIANT_TAG, Answer, ListedRun, Milestone, RunFilter, Totals
from sessions.values import path_value, run_row

USUAL_BASELINE = "eager"
"""The baseline of lists, which every operator has."""

_SELECT_PAGE = """
select runs.*, sessions.pid, sessions.process_stamp, sessions.ended_at, speedup, speedup_low, speedup_high
from runs join sessions on sessions.id = runs.session
left join summaries on summaries.run = runs.id and summaries.baseline = :baseline
    and runs.outcome = 'pass' and runs.flagged = 0"""
_SELECT_TOTALS = """
select count(*) as runs, count(distinct runs.session) as sessions,
    coalesce(sum(runs.outcome = 'pass' and runs.flagged = 0), 0) as passed, coalesce(sum(runs.flagged), 0) as flagged,
    coalesce(sum(runs.elapsed_s), 0) as elapsed_s
from runs"""
_SELECT_COST = """
select coalesce(sum(prompt_tokens), 0) as prompt_tokens, coalesce(sum(completion_tokens), 0) as completion_tokens,
    sum(cost_microusd) as cost_microusd,
    coalesce(sum(state in ('settled', 'lost') and cost_microusd is null), 0) as unpriced
from generations"""
# Of what a provider answered, that which was judged in one of these runs.
_ANSWERS_OF = """ where id in (
    select generations.id from generations
    join runs on runs.session = generations.session and runs.candidate = generations.candidate{where})"""
_SELECT_MILESTONES = f"""
select runs.id, runs.outcome, runs.flagged, runs.policy, runs.passed, runs.total,
    speedup, summaries.cases as timed, summaries.planned
from runs left join summaries on summaries.run = runs.id and summaries.baseline = :baseline
where runs.path is :path and runs.problem = :problem and runs.device_name is :device_name
    and runs.tag is not '{VARIANT_TAG}'
order by runs.id desc limit :limit"""

# One text may have come several times: an answer of the run's own session goes first, then the newest.
_SELECT_ANSWER = """
select generations.provider, generations.model, generations.prompt_tokens, generations.completion_tokens,
    generations.cost_microusd, generations.elapsed_s
from generations join runs on runs.candidate = generations.candidate and runs.problem = generations.problem
where runs.id = :run
order by generations.session = runs.session desc, generations.id desc limit 1"""


class Browser(Reader):
    """A reader with queries over all runs."""

    def page(
        self,
        wanted: RunFilter = EVERY_RUN,
        *,
        before_id: int | None = None,
        after_id: int | None = None,
        limit: int = 100,
    ) -> tuple[ListedRun, ...]:
        """Up to `limit` of the matching runs, newest first.

        Those next before run `before_id`; or those next after `after_id`, where 0 is before the first.
        """
        conditions, values = narrowing(wanted)
        values |= {"limit": limit, "baseline": USUAL_BASELINE}
        if before_id is not None:
            conditions.append("runs.id < :before")
            values["before"] = before_id
        if after_id is not None:
            conditions.append("runs.id > :after")
            values["after"] = after_id
        order = "asc" if after_id is not None else "desc"
        statement = f"{_SELECT_PAGE}{where(conditions)} order by runs.id {order} limit :limit"
        found = [_listed(row) for row in self._database.rows(statement, values)]
        return tuple(sorted(found, key=lambda listed: -listed.run.id))

    def totals(self, wanted: RunFilter = EVERY_RUN) -> Totals:
        """Totals of the matching runs, and the cost of the answers that they ran; of all runs, all answers."""
        conditions, values = narrowing(wanted)
        clause = where(conditions)
        (sums,) = self._database.rows(_SELECT_TOTALS + clause, values)
        answers = _ANSWERS_OF.format(where=clause) if conditions else ""
        (cost,) = self._database.rows(_SELECT_COST + answers, values)
        return Totals(**{name: sums[name] for name in sums.keys()}, **{name: cost[name] for name in cost.keys()})  # noqa: SIM118  # a row iterates over its values

    def milestones(self, run_id: int, *, limit: int = 400) -> tuple[Milestone, ...]:
        """The runs of the same file and operator on the same kind of device, the oldest first; no variants of it.

        Raises:
            UsageError: there is no such run.
        """
        run = self.run(run_id)
        values = {
            "path": path_value(run.path),
            "problem": run.problem,
            "device_name": run.device_name,
            "limit": limit,
            "baseline": USUAL_BASELINE,
        }
        return tuple(_milestone(row) for row in reversed(self._database.rows(_SELECT_MILESTONES, values)))

    def answer(self, run_id: int) -> Answer | None:
        """The model's answer with the run's candidate; None if no model wrote it.

        Raises:
            UsageError: there is no such run.
        """
        self.run(run_id)
        rows = self._database.rows(_SELECT_ANSWER, {"run": run_id})
        return Answer(**{name: rows[0][name] for name in rows[0].keys()}) if rows else None  # noqa: SIM118  # as above


def _listed(row: sqlite3.Row) -> ListedRun:
    value = row["speedup"]
    speedup = None if value is None else Interval(value=value, low=row["speedup_low"], high=row["speedup_high"])
    return ListedRun(run=run_row(row), speedup=speedup)


def _milestone(row: sqlite3.Row) -> Milestone:
    counts = row["outcome"] == Outcome.PASS and not row["flagged"] and row["policy"] != "facts-only"
    whole = counts and row["timed"] == row["planned"]
    return Milestone(
        run_id=row["id"],
        right=counts,
        passed=row["passed"],
        total=row["total"],
        speedup=row["speedup"] if whole else None,
        timed=row["timed"] if whole else None,
    )
