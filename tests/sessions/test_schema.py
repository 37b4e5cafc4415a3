"""The page about the schema says what the migrations make."""

from __future__ import annotations

from pathlib import Path

import pytest

import sessions
from sessions.schema import EXAMPLES, schema_page

PAGE = Path(sessions.__file__).with_name("SCHEMA.md")


def test_the_committed_page_is_current():
    assert PAGE.read_text() == schema_page(), "make it again: python -m sessions.schema > sessions/SCHEMA.md"


@pytest.mark.parametrize(
    "table",
    [
        "sessions", "environment", "candidates", "runs", "events", "cases", "findings", "timings", "kernels",
        "artefacts", "batches", "check_batches", "check_results", "generations", "attempts", "benchmarks",
        "comparisons", "summaries", "baselines",
    ],
)  # fmt: skip
def test_every_table_is_described(table):
    assert f"### {table}\n\n```sql\ncreate table {table} (" in schema_page()


@pytest.mark.parametrize("statement", [statement for _, statement in EXAMPLES])
def test_every_query_of_schema_page_runs(store, statement):
    assert store._database.rows(statement) == []
