"""What a proof says of the versions that it was made under."""

from __future__ import annotations

import importlib.metadata

import pytest

from engine.run.proving.proof_record import versions


def test_missing_package_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "kgtui":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = versions()
    assert (found["kgtui"], found["torch"]) == ("unknown", "1.0")
