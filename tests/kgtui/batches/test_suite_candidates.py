"""Candidates of a suite become candidates of a batch; each suite has its own headline metric."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import UsageError
from kgtui.batches.candidates import suite_candidates
from kgtui.batches.figures.headline import FORMULAS
from problems.suites.scanning import formats
from problems.suites.source import suite_at

SAMPLE = Path(__file__).parents[2] / "problems" / "samples" / "kernelbench"
MODEL = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


@pytest.fixture
def suite():
    return suite_at(SAMPLE)


def test_files_named_after_tasks_are_candidates(suite, tmp_path):
    (tmp_path / "23_Softmax.py").write_text(MODEL)
    (tmp_path / "99_Unknown.py").write_text(MODEL)
    found = suite_candidates(tmp_path, suite)
    (one,) = found.candidates
    assert (one.listed.name, one.listed.problem) == ("23_Softmax.py", "kernelbench::level1/23_Softmax")
    assert one.read().decode() == MODEL
    assert len(found.complaints) == 1


def test_samples_of_each_model_belong_to_task(suite, tmp_path):
    for name in ("one/level1/23_Softmax_0.py", "one/level1/23_Softmax_1.py", "two/23_Softmax_sample_1.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{MODEL}# {name}\n")
    listed = [one.listed for one in suite_candidates(tmp_path, suite).candidates]
    assert [(one.problem, one.sample) for one in listed] == [
        ("kernelbench::level1/23_Softmax", 0),
        ("kernelbench::level1/23_Softmax", 1),
        ("kernelbench::level1/23_Softmax", 3),
    ]


@pytest.mark.parametrize("name", ["", "missing"])
def test_no_candidate_for_a_task_is_refused(suite, tmp_path, name):
    with pytest.raises(UsageError, match="candidates"):
        suite_candidates(tmp_path / name, suite)


def test_every_suite_has_a_headline_metric():
    assert {one.id for one in formats()} == set(FORMULAS)
