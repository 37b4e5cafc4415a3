"""Candidates read from folders and rows: what each is for, its sample, and why some are not run."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.errors import UsageError
from kgtui.batches.candidates import read_candidates
from kgtui.batches.naming import guesses

KNOWN = {"softmax": "aten::softmax", "aten::softmax": "aten::softmax", "silu": "aten::silu", "aten::silu": "aten::silu"}
SOFTMAX = "def softmax(self):\n    return self\n"
ANSWER = f"Here it is:\n```python\n{SOFTMAX}```\n"


def resolve(name):
    if name not in KNOWN:
        raise UsageError(f"there is no operator called {name!r}")
    return KNOWN[name]


NAMES = SimpleNamespace(resolve=resolve, entry=lambda name: name.partition("::")[2])


def read(path, **how):
    return read_candidates(path, NAMES, **how)


def listed(path, **how):
    return [(one.listed.name, one.listed.problem, one.listed.sample) for one in read(path, **how).candidates]


@pytest.fixture
def rows(tmp_path):
    """Write rows; the file."""

    def write(*values):
        path = tmp_path / "rows.jsonl"
        path.write_text("\n".join(value if isinstance(value, str) else json.dumps(value) for value in values))
        return path

    return write


def test_unknown_words_of_directives_are_one_complaint(tmp_path):
    for number in range(3):
        (tmp_path / f"softmax_{number}.py").write_text(f"# kgtui: op=softmax case=full n{number}\n{SOFTMAX}")
    (tmp_path / "silu.py").write_text("# kgtui: op=silu cases=smoke\ndef silu(self): ...\n")
    assert read(tmp_path).complaints == (
        "softmax_0.py: its `# kgtui:` line: unknown case=full n0; known are op=, cases= and target= (2 more like this)",
    )


def test_files_are_named_after_operators(tmp_path):
    (tmp_path / "silu").mkdir()
    for name in ("softmax.py", "aten__softmax.py", "softmax_7.py", "silu/0.py", "silu/sample_1.py", ".hidden.py"):
        (tmp_path / name).write_text(SOFTMAX)
    assert listed(tmp_path) == [
        ("aten__softmax.py", "aten::softmax", 1),
        ("silu/0.py", "aten::silu", 0),
        ("silu/sample_1.py", "aten::silu", 1),
        ("softmax.py", "aten::softmax", 2),
        ("softmax_7.py", "aten::softmax", 7),
    ]


def test_directive_overrides_the_name(tmp_path):
    (tmp_path / "silu.py").write_text(f"# kgtui: op=aten::softmax\n{SOFTMAX}")
    assert listed(tmp_path) == [("silu.py", "aten::softmax", 1)]


def test_given_operator_applies_to_all(tmp_path):
    (tmp_path / "anything.py").write_text(SOFTMAX)
    assert listed(tmp_path, operator="softmax") == [("anything.py", "aten::softmax", 1)]


def test_an_unknown_operator_is_listed_with_the_reason(tmp_path):
    (tmp_path / "nope.py").write_text(SOFTMAX)
    (one,) = read(tmp_path).candidates
    assert (one.listed.problem, one.listed.digest) == ("", "")
    assert one.listed.refusal == "names no known operator (tried nope); `kgtui problems list` lists them"


def test_binary_file_without_operator_is_called_binary(tmp_path):
    (tmp_path / "c.py").write_bytes(b"\x7fELF\0\0")
    (one,) = read(tmp_path).candidates
    assert (one.listed.problem, one.listed.digest) == ("", "")
    assert one.listed.refusal == "c.py is a binary file; a candidate is one Python file in UTF-8"


@pytest.mark.parametrize("key", ["op", "file", "task"])
@pytest.mark.parametrize("text", [{"predict": ANSWER}, {"source": SOFTMAX}, {"code": SOFTMAX}])
def test_a_row_has_an_operator_and_a_text(rows, key, text):
    (one,) = read(rows({key: "softmax", **text, "other": 1})).candidates
    assert (one.listed.name, one.listed.problem, one.read().decode()) == ("rows.jsonl:1", "aten::softmax", SOFTMAX)


def test_samples_that_clash_get_the_next_number(rows):
    row = {"op": "softmax", "source": SOFTMAX}
    path = rows({**row, "sample": 2}, row, {**row, "sample": 2}, row)
    assert [sample for _, _, sample in listed(path)] == [2, 3, 4, 5]


def test_unnamed_sample_never_takes_a_named_number(tmp_path):
    for name in ("a__softmax.py", "softmax.py", "softmax_1.py", "softmax_3.md"):
        (tmp_path / name).write_text(ANSWER if name.endswith(".md") else SOFTMAX)
    samples = {name: sample for name, _, sample in listed(tmp_path, operator="softmax")}
    assert (samples["softmax_1.py"], samples["softmax_3.md"]) == (1, 3)
    assert sorted(samples.values()) == [1, 2, 3, 4]


def test_an_answer_without_code_has_a_reason(rows):
    (one,) = read(rows({"op": "softmax", "predict": "I cannot."})).candidates
    assert (one.listed.problem, one.listed.digest) == ("aten::softmax", "")
    assert one.listed.refusal == "the answer has no code block; answer with one Python code block"


def test_invalid_row_keeps_the_others(rows):
    found = read(rows("{broken", "", {"op": "softmax"}, {"op": "softmax", "source": SOFTMAX}, {"op": 3, "code": ""}))
    assert [one.listed.name for one in found.candidates] == ["rows.jsonl:4"]
    assert [text.partition(": ")[0] for text in found.complaints] == ["rows.jsonl:1", "rows.jsonl:3", "rows.jsonl:5"]


def test_many_bad_rows_are_summed_up(rows):
    found = read(rows(*["{"] * 30, {"op": "softmax", "source": SOFTMAX}))
    assert (len(found.complaints), found.complaints[-1]) == (21, "rows.jsonl: 10 more rows are not candidates")


def test_link_out_of_folder_is_not_read(tmp_path):
    folder = tmp_path / "candidates"
    folder.mkdir()
    (tmp_path / "softmax.py").write_text(SOFTMAX)
    (folder / "softmax.py").symlink_to(tmp_path / "softmax.py")
    (folder / "silu.py").write_text(SOFTMAX)
    found = read(folder)
    assert [one.listed.name for one in found.candidates] == ["silu.py"]
    assert found.complaints == (f"softmax.py: not read: the link points outside of {folder}",)


def test_utf16_rows_error_states_conversion(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"op": "softmax", "source": SOFTMAX}), encoding="utf-16")
    with pytest.raises(UsageError, match=r"rows.jsonl is in UTF-16; convert it"):
        read(path)


@pytest.mark.parametrize("name", ["", "missing"])
def test_empty_folder_error_lists_expected_files(tmp_path, name):
    with pytest.raises(UsageError, match=r"candidates"):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "operators", "sample"),
    [
        ("softmax.py", ("softmax",), None),
        ("aten__softmax.py", ("aten__softmax", "aten::softmax"), None),
        ("aten.softmax_12.py", ("aten.softmax_12", "aten::softmax_12", "aten.softmax", "aten::softmax"), 12),
        ("cublasSgemm_v2.py", ("cublasSgemm_v2",), None),
        ("_softmax.py", ("_softmax",), None),
    ],
)
def test_a_name_is_read_in_several_ways(name, operators, sample):
    found = guesses(Path(name))
    assert (found.operators, found.sample) == (operators, sample)
