"""Costs of answers summed by model, operator, day or session, with the time of the runs that they caused."""

from __future__ import annotations

import sqlite3

from sessions.candidates.generation_rows import CostBy, CostRow

_GROUPS = {
    CostBy.MODEL: "generations.provider || ':' || generations.model",
    CostBy.OPERATOR: "generations.problem",
    CostBy.DAY: "substr(coalesce(generations.began_at, generations.ended_at), 1, 10)",
    CostBy.SESSION: "generations.session",
}
# A refused request was not charged and is no answer; a lost one may have been.  A run counts once, for the answer that
# caused it: the first of those with its source or that saved it, and none where the run began before it was requested.
# Not by their times: the system clock may have been set back between the two.
_SELECT_COSTS = """
select {group} as grouped, count(*) as answers, sum(cost_microusd is null) as unpriced,
    sum(prompt_tokens is null) as uncounted,
    coalesce(sum(prompt_tokens), 0) as input_tokens, coalesce(sum(cached_tokens), 0) as cached_tokens,
    coalesce(sum(completion_tokens), 0) as output_tokens, coalesce(sum(reasoning_tokens), 0) as reasoning_tokens,
    sum(cost_microusd) as cost_microusd, coalesce(sum(generations.elapsed_s), 0) as wall_s,
    coalesce(sum(caused.engine_s), 0) as engine_s, sum(caused.device_s) as device_s,
    coalesce(sum(runs.outcome = 'pass' and runs.flagged = 0), 0) as correct,
    sum(case when summaries.speedup is not null then
        runs.outcome = 'pass' and runs.flagged = 0 and summaries.speedup > 1 end) as faster
from generations left join runs on runs.id = generations.run
left join summaries on summaries.run = runs.id and summaries.baseline = 'eager'
left join (
    select first, sum(runs.elapsed_s) as engine_s,
        sum((select sum(elapsed_s) from benchmarks where benchmarks.run = runs.id)) as device_s
    from (
        select run, min(generation) as first from (
            select id as generation, run from generations where run is not null
            union select generation, run from agent_saves)
        group by run) as causes
    join runs on runs.id = causes.run
    join generations as causing on causing.id = first and case when causing.runs_before is null
        then runs.started_at >= coalesce(causing.began_at, '') else runs.id > causing.runs_before end
    group by first) as caused on caused.first = generations.id
where state in ('settled', 'lost'){narrowed} group by grouped order by grouped"""


def select_costs(by: CostBy, *, is_narrowed: bool) -> str:
    """The statement with a row for each group, of one `:session` if it is narrowed."""
    narrowed = " and generations.session = :session" if is_narrowed else ""
    return _SELECT_COSTS.format(group=_GROUPS[by], narrowed=narrowed)


def cost_row(row: sqlite3.Row) -> CostRow:
    """The record of a group."""
    values = {name: row[name] for name in row.keys() if name != "grouped"}  # noqa: SIM118  # a row iterates over its values
    return CostRow(group=str(row["grouped"]), **values)
