"""Which finished run answers a new request, so that its events are replayed instead of verifying again.

The run finished with a word on the candidate (not cancelled, unsupported or an engine error), no process of the
candidate crashed or ran out of time or memory, and every check could be made.  Its session had the same environment
as the session that asks: a verdict on another machine, or under other versions of torch, triton or kgtui, does not
count, nor does one by another policy.  Variants of a file do not count: a variant that is written to the file is
verified as the file.  A run with a seed that the user chose does not count either: a kernel may be made for one draw.
Where a benchmark is wanted, a run that passed counts only when it timed all of its cases, in that state of the cache,
beside all of those baselines; a candidate that failed is never timed.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.model import BenchmarkPlan
from sessions.queries.conditions import IS_OWN, NO_VERDICT_ON_CANDIDATE, SELECT_RUNS
from sessions.values import json_list

# Not reused: the reason of a process that ended, a deadline or an unfinished check may no longer apply.
_OF_ITS_TIME = "('crashed', 'timeout', 'out_of_memory')"
_UNMADE = "('could not check', 'engine failed')"
_NOTES_ON_THE_MACHINE = "('artefacts', 'memory', 'offline_compile', 'peaks')"
_HOLDS_STILL = f"""
    and runs.outcome not in {_OF_ITS_TIME}
    and not exists (select 1 from cases where run = runs.id
        and (outcome in {_OF_ITS_TIME} or outcome in {NO_VERDICT_ON_CANDIDATE}))
    and not exists (select 1 from kernels where run = runs.id and outcome in {NO_VERDICT_ON_CANDIDATE})
    and not exists (select 1 from findings where run = runs.id and severity = 'note'
        and check_name in {_NOTES_ON_THE_MACHINE})
    and not exists (select 1 from events where run = runs.id and kind = 'LayerChecked'
        and (json_extract(body, '$.report.coverage') in {_UNMADE}
            or (json_extract(body, '$.report.coverage') = 'not available' and runs.device != 'cpu')))
    and not exists (select 1 from events where run = runs.id and kind = 'RunFinished'
        and json_extract(body, '$.seed_given'))"""
SELECT_CACHED = f"""{SELECT_RUNS}
where runs.candidate = :digest and runs.problem = :problem and runs.device = :device and runs.target is :target
    and runs.tiers = :tiers and runs.policy = :policy and runs.outcome not in {NO_VERDICT_ON_CANDIDATE}
    and {IS_OWN}{_HOLDS_STILL}
    and not exists (select name, value from environment where session = runs.session
        except select name, value from environment where session = :session)
    and not exists (select name, value from environment where session = :session
        except select name, value from environment where session = runs.session)
    and (:cache is null or runs.outcome != 'pass' or (
        not exists (select value from json_each(:cases)
            except select case_name from benchmarks
                where run = runs.id and cache = :cache and outcome = 'pass')
        and not exists (select cases.value, sides.value from json_each(:cases) as cases, json_each(:baselines) as sides
            except select benchmarks.case_name, baseline from benchmarks join comparisons using (run, seq)
                where run = runs.id and cache = :cache and outcome = 'pass')))
order by runs.id desc limit 1"""


def timed_values(benchmark: BenchmarkPlan | None) -> Mapping[str, str | None]:
    """The parameters of `SELECT_CACHED` for the cases to be timed; a null cache for none."""
    return {
        "cache": benchmark.cache if benchmark else None,
        "cases": json_list([case.name for case in benchmark.cases] if benchmark else []),
        "baselines": json_list(benchmark.baselines if benchmark else ()),
    }
