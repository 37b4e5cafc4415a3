"""Audits are kept by the version of a problem."""

from __future__ import annotations

import hashlib

import pytest

from engine.model import ProblemId
from problems.audits import audits_beside

TEXT = "zeros pass in every case"


@pytest.fixture
def audits(tmp_path):
    return audits_beside(tmp_path / "descriptions.json")


def test_an_audit_is_of_one_version(audits, tmp_path):
    audits.add({ProblemId(source="s", name="user::a", version="1"): (TEXT,)})
    again = audits_beside(tmp_path / "descriptions.json")
    assert again.of(ProblemId(source="s", name="user::a", version="1")) == (TEXT,)
    assert again.of(ProblemId(source="s", name="user::a", version="2")) == ()


def test_a_file_that_changed_has_no_audit(audits, tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    version = hashlib.sha256(file.read_bytes()).hexdigest()
    audits.add({ProblemId(source="s", name="user::a", version=version): (TEXT,)})
    assert audits.of_file("s", "user::a", file) == (TEXT,)
    file.write_text("x = 2\n")
    assert audits.of_file("s", "user::a", file) == ()


def test_broken_file_is_not_an_audit(audits, tmp_path):
    (tmp_path / "audits.json").write_text("{")
    assert audits.of(ProblemId(source="s", name="user::a")) == ()
