"""The schema as a page for people who query the store with the sqlite3 shell.

Made from a database that was really migrated, so it cannot say anything else than the migrations do.
`python -m sessions.schema` prints it; it must never open a user's store.
"""

from __future__ import annotations

import re
import sys

from sessions.database import open_memory
from sessions.tables.migrations import SCHEMA_VERSION

EXAMPLES = (
    (
        "The last runs of a problem",
        "select id, outcome, passed, total, sentence from runs\n"
        "where problem = 'aten::softmax' order by id desc limit 20;",
    ),
    (
        "Which cases fail most often",
        "select runs.problem, cases.name, count(*) as failures\nfrom cases join runs on runs.id = cases.run\n"
        "where cases.outcome != 'pass'\ngroup by runs.problem, cases.name order by failures desc;",
    ),
    (
        "Registers and spills of a kernel from run to run",
        "select runs.id, kernels.target, registers, spill_bytes, shared_bytes\n"
        "from kernels join runs on runs.id = kernels.run\n"
        "where kernels.name = 'softmax_kernel' order by runs.id;",
    ),
    (
        "What a case took from run to run, right and unflagged",
        "select runs.id, case_name, cache, method, device_us, device_us_low, device_us_high, percent_of_floor\n"
        "from benchmarks join runs on runs.id = benchmarks.run\n"
        "where runs.problem = 'aten::softmax' and runs.outcome = 'pass' and runs.flagged = 0\n"
        "order by case_name, runs.id;",
    ),
    (
        "How runs compare with PyTorch eager over all of their cases",
        "select runs.id, runs.device_name, speedup, speedup_low, speedup_high, summaries.cases, planned\n"
        "from summaries join runs on runs.id = summaries.run\n"
        "where summaries.baseline = 'eager' and runs.outcome = 'pass' and runs.flagged = 0 order by runs.id;",
    ),
    (
        "What models cost, and how many of their candidates passed",
        "select provider, model, count(*) as answers, sum(cost_microusd) / 1e6 as usd, sum(runs.outcome = 'pass')\n"
        "from generations left join runs on runs.id = generations.run group by provider, model;",
    ),
    (
        "A source as it was judged",
        "select cast(source as text) from candidates join runs on runs.candidate = candidates.digest\n"
        "where runs.id = 42;",
    ),
)

_HEAD = f"""\
# The session store, schema version {SCHEMA_VERSION}

One SQLite file. Made by `python -m sessions.schema`; do not edit by hand.

`events` is the source of truth: what each run said, in order, each event committed as it arrived. The other tables are
there to be asked. Times are ISO 8601 in UTC, durations in seconds, measured times in microseconds.
`pragma user_version` is the schema version, and `_sqlite_migrations` records which migration was applied when.
Foreign keys hold. Nothing is deleted but the run or session that somebody asks to be.
"""

_SELECT_OBJECTS = """
select type, name, sql from sqlite_master
where type = :type and sql is not null and name not like '\\_%' escape '\\' and name not like 'sqlite\\_%' escape '\\'
    and tbl_name not like '\\_%' escape '\\'
order by rowid"""


def schema_page() -> str:
    """The whole page as Markdown."""
    database = open_memory()
    try:
        tables = database.rows(_SELECT_OBJECTS, {"type": "table"})
        indices = database.rows(_SELECT_OBJECTS, {"type": "index"})
    finally:
        database.close()
    parts = [_HEAD, "## Tables\n"]
    parts += [f"### {table['name']}\n\n{_fenced(table['sql'])}" for table in tables]
    parts += ["## Indices\n", _fenced("\n".join(f"{index['sql']};" for index in indices)), "## Questions\n"]
    parts += [f"{title}:\n\n{_fenced(statement)}" for title, statement in EXAMPLES]
    return "\n".join(parts)


def _fenced(statement: str) -> str:
    # SQLite keeps a statement as it was written, but for the words in front of the name.
    # A table that a migration renamed has its name in quotes.
    unquoted = re.sub(r'CREATE TABLE "(\w+)"', r"CREATE TABLE \1", statement)
    lowered = unquoted.replace("CREATE TABLE ", "create table ").replace("CREATE INDEX ", "create index ")
    return f"```sql\n{lowered}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(schema_page())
