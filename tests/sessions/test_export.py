"""Documents made of a run or a session."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
from pathlib import Path

import msgspec
import pytest

from engine.errors import StoreError
from engine.model import Outcome
from engine.model.events import from_json
from sessions import open_memory_store
from sessions.export import as_csv, as_json, as_jsonl, as_markdown


@pytest.fixture
def run(store, begin, whole_run):
    run_id = begin(source=b"x = '''\n```\n'''\n")
    for event in whole_run:
        store.record(run_id, event)
    store.set_note(run_id, "tail | mask\nis <b>wrong</b>")
    return store.run(run_id)


def test_run_json_holds_session_and_evidence(store, run):
    document = json.loads("".join(as_json(store, run)))
    assert document["schema"] == "kgtui.session/1"
    assert document["session"]["environment"] == {"torch": "2.13.0", "triton": "3.9.0"}
    assert document["session"]["started_at"] == "2026-01-02T03:04:05.678000Z"
    (exported,) = document["runs"]
    assert (exported["id"], exported["path"], exported["state"]) == (1, "/home/user/softmax.py", "finished")
    assert (exported["outcome"], exported["tiers"]) == ("wrong_value", ["smoke"])
    assert exported["source"] == "x = '''\n```\n'''\n"
    assert [case["case"] for case in exported["cases"]] == ["4x8 f32", "1x131072 f32"]
    assert exported["cases"][1]["seed"] == 2**64 - 1
    assert exported["cases"][1]["outputs"][0]["error_map"] == ["...#"]
    assert exported["findings"][0]["message"] == "x[0] | a [bold]handler[/]"
    assert exported["kernels"][0]["registers"] == 32
    assert exported["stages"][0]["stage"] == "verify"


def test_session_json_holds_all_its_runs_only(store, session_id, run, judge):
    judge(session=store.begin_session("another"))
    last = judge()
    document = json.loads("".join(as_json(store, store.session(session_id))))
    assert [exported["id"] for exported in document["runs"]] == [run.id, last]
    assert document["session"]["runs"] == 2


def test_session_longer_than_page_is_exported_whole(begin_in):
    with open_memory_store() as store:
        numbers = [begin_in(store) for _ in range(501)]
        document = json.loads("".join(as_json(store, store.session(1))))
    assert [exported["id"] for exported in document["runs"]] == numbers


def test_json_keeps_bytes_of_undecodable_source(store, begin):
    odd = Path(os.fsdecode(b"/k/\xff.py"))
    (exported,) = json.loads("".join(as_json(store, store.run(begin(source=b"\xff", path=odd)))))["runs"]
    assert base64.b64decode(exported["source_base64"]) == b"\xff"
    assert "source" not in exported
    assert exported["path"] == "/k/�.py"


def test_json_lines_are_the_events_with_their_run(store, session_id, run, judge, whole_run):
    second = judge()
    lines = [json.loads(line) for line in as_jsonl(store, store.session(session_id))]
    assert [line.pop("run") for line in lines] == [run.id] * len(whole_run) + [second]
    assert tuple(from_json(json.dumps(line)) for line in lines[:-1]) == whole_run


def test_run_as_markdown_has_every_section(store, run):
    assert (
        "".join(as_markdown(store, run))
        == f"""\
# Run #1: aten::softmax: wrong_value

| run | #1 |
| --- | --- |
| verdict | 1 of 2 cases passed |
| state | finished |
| cases passed | 1 of 2 |
| file | /home/user/softmax.py |
| source | SHA-256 {run.digest} |
| device | cpu: A CPU |
| compiled for | sm_90 |
| started | 2026-01-02 03:04:05 UTC |
| took | 1.25 s |
| note | tail \\| mask is &lt;b>wrong&lt;/b> |

## Cases

| case | outcome | what happened |
| --- | --- | --- |
| 4x8 f32 | pass |  |
| 1x131072 f32 | wrong_value | 3 elements are out of tolerance; return: 3 of 131,072 elements out of tolerance; \
worst at [0, 131071]: expected 0.5, got nan |

## Findings

| severity | check | line | finding |
| --- | --- | --- | --- |
| hint | handler | 7 | x[0] \\| a [bold]handler[/] |

## Kernels

| kernel | target | outcome | registers | spilled bytes | shared bytes |
| --- | --- | --- | --- | --- | --- |
| softmax_kernel | sm_90 | pass | 32 | 0 | unknown |

## Source

````python
x = '''
```
'''
````
"""
    )


def test_csv_of_untimed_run_has_row_per_case(store, run):
    header, *rows = csv.reader(io.StringIO("".join(as_csv(store, run))))
    first = ["1", "2026-01-02T03:04:05.678000+00:00", "aten::softmax", "A CPU", "wrong_value", "0"]
    untimed = ["", "candidate", *[""] * 13]
    assert rows == [
        [*first, "4x8 f32", "pass", *untimed],
        [*first, "1x131072 f32", "wrong_value", *untimed],
    ]
    assert [header[7], header[9], len(header)] == ["case_outcome", "side", len(rows[0])]


def test_session_markdown_has_section_per_run(store, session_id, run, judge):
    judge(Outcome.PASS, flagged=True)
    page = "".join(as_markdown(store, store.session(session_id)))
    headings = [line for line in page.split("\n") if line.startswith(("# ", "## "))]
    assert headings == [
        "# Session 1: a morning",
        "## Run #1: aten::softmax: wrong_value",
        "## Run #2: aten::softmax: pass",
    ]
    assert "Started 2026-01-02 03:04:05 UTC. Runs: 2, of them 0 passed and 1 flagged. Operators: 1." in page
    assert "| triton | 3.9.0 |" in page
    assert "| state | finished, flagged |" in page


def test_markdown_of_interrupted_run_states_interruption(store, begin, session_id):
    run_id = begin()
    store.end_session(session_id)
    page = "".join(as_markdown(store, store.run(run_id)))
    assert page.startswith("# Run #1: aten::softmax: interrupted\n")
    assert "verdict" not in page


def test_json_in_pieces_is_indented_as_one_document(store, session_id, run, judge):
    judge()
    for subject in (store.session(session_id), run, store.session(store.begin_session("no run"))):
        text = "".join(as_json(store, subject))
        assert text == msgspec.json.format(text.encode(), indent=2).decode() + "\n"


@pytest.mark.parametrize("how", [as_json, as_jsonl, as_csv, as_markdown])
def test_export_reads_run_only_when_consumed(store, session_id, judge, how):
    for _ in range(4):
        judge()
    pieces = how(store, store.session(session_id))
    taken = [next(pieces)]
    store._database.rows("update events set body = 'broken', kind = 'CaseBenchmarked' where run = 4")
    with pytest.raises(StoreError, match="run #4, event 1"):
        taken.extend(pieces)


def test_export_of_several_pages_is_in_order(store, session_id, judge, monkeypatch):
    monkeypatch.setattr("sessions.export._PAGE", 2)
    numbers = [judge() for _ in range(5)]
    exported = json.loads("".join(as_json(store, store.session(session_id))))["runs"]
    assert [run["id"] for run in exported] == numbers
