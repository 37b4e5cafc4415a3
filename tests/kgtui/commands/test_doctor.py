"""`kgtui doctor`: what a really started engine says of itself."""

from __future__ import annotations

import json

from engine.errors import EngineError
from engine.processes.confinement import Measure
from engine.processes.nest import Nest


def test_the_json_document_names_devices_versions_measures_and_places(typed, home):
    document = json.loads(typed("doctor", "--json").out)
    assert document["schema"] == "kgtui.doctor/1"
    assert document["devices"][-1]["platform"] == "cpu"
    assert {"python", "torch", "triton", "kgtui"} <= set(document["versions"])
    assert "dies with its parent" in document["confinement"]
    assert sorted(document["confinement"] + document["missing_confinement"]) == sorted(Measure)
    assert document["places"]["sessions"] == {"path": f"{home}/sessions.db", "writable": True}
    assert document["terminal"]["is_terminal"] is False
    assert not home.exists()


def test_an_engine_that_cannot_be_started_is_said(typed, monkeypatch):
    async def fail(nest):
        raise EngineError("no processes here")

    monkeypatch.setattr(Nest, "start", fail)
    ended = typed("doctor")
    assert ended.exit_code == 3
    assert "engine       cannot be started: no processes here" in ended.out.splitlines()
