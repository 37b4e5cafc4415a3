"""`kgtui doctor`: the diagnosis with a really started engine."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import kgtui
from engine.errors import EngineError
from engine.processes.fork_server_client import ForkServerClient
from engine.sandbox.confinement import Measure
from kgtui.cli.console import Console
from tests.kgtui.cli.documents import require_valid


def test_json_document_lists_devices_versions_limits_and_paths(typed, home):
    document = require_valid(typed("doctor", "--json").out)
    assert document["schema"] == "kgtui.doctor/1"
    assert document["devices"][-1]["platform"] == "cpu"
    assert [found["platform"] for found in document["conditions"]] == [
        device["platform"] for device in document["devices"][:-1]
    ]
    assert {"python", "torch", "triton", "kgtui"} <= set(document["versions"])
    assert "dies with its parent" in document["confinement"]
    assert sorted(document["confinement"] + document["missing_confinement"]) == sorted(Measure)
    assert document["places"]["sessions"] == {"path": f"{home}/sessions.db", "writable": True}
    assert document["places"]["peaks"] == {"path": f"{home}/peaks", "writable": True}
    assert document["terminal"]["is_terminal"] is False
    assert not home.exists()


def test_settings_are_listed_with_origin_and_unused_ones(typed, home, folder):
    home.mkdir()
    config = home / "config.toml"
    config.write_text("folder = 'mine'\nasci = true\n[keys]\n'workbench.run' = 'f11'\n'workbench.failed' = 'z'\n")
    lines = typed("doctor").out.splitlines()
    assert f'setting      folder          "mine"         {config}' in lines
    assert "setting      workbench.run   f11" in lines
    assert f"path         kernels: {folder}/mine" in lines
    assert [line for line in lines if "NOT USED" in line] == [
        f"setting      NOT USED: {config}, asci: unknown setting; did you mean ascii?",
        f"setting      NOT USED: {config}, keys.workbench.failed: z would be both workbench.failed and workbench.zoom; "
        "change one of them",
    ]


def test_settings_are_those_of_config_show(typed):
    listed = typed("config", "show").out.splitlines()[1:]
    assert [line for line in typed("doctor").out.splitlines() if line.startswith("setting")] == [
        f"setting      {line}" for line in listed
    ]


def test_machine_is_printed_before_engine_starts(typed, monkeypatch):
    printed = []

    async def fail(fork_server):
        printed.append(True)
        raise EngineError("no processes here")

    say = Console.say
    monkeypatch.setattr(Console, "say", lambda console, text: (printed.append(text), say(console, text)))
    monkeypatch.setattr(ForkServerClient, "start", fail)
    typed("doctor")
    assert "version      python " in printed[0]
    assert printed[1] is True


def test_engine_start_failure_is_reported(typed, monkeypatch):
    async def fail(fork_server):
        raise EngineError("no processes here")

    monkeypatch.setattr(ForkServerClient, "start", fail)
    ended = typed("doctor")
    assert ended.exit_code == 3
    assert "engine       cannot be started: no processes here" in ended.out.splitlines()


def test_program_run_from_source_states_its_folder(typed, monkeypatch):
    def version(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    ended = typed("doctor")
    assert ended.exit_code == 0
    lines = ended.out.splitlines()
    assert f"version      kgtui not installed, running from {Path(kgtui.__file__).parent.parent}" in lines
    assert "version      torch not installed" in lines
