"""Launches become binaries for GPUs that are not here, or a reason with its line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
Replies = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="module")
def replies_by_id(folder: Path) -> Replies:
    environment = {"HOME": str(folder), "TRITON_CACHE_DIR": str(folder / "cache"), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, str(HERE / "compiled.py"), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    replies: Replies = json.loads(done.stdout)
    return replies


def test_loading_runs_top_level_but_not_entry(replies_by_id: Replies) -> None:
    assert replies_by_id["load"] == {"type": "done", "id": "load"}


@pytest.mark.parametrize(
    ("target", "stages", "text", "said"),
    [
        ("sm_80", {"ttir", "ttgir", "llir", "ptx", "cubin"}, "ptx", ".target sm_80"),
        ("sm_90", {"ttir", "ttgir", "llir", "ptx", "cubin"}, "ptx", ".target sm_90a"),
        ("gfx942", {"ttir", "ttgir", "llir", "amdgcn", "hsaco"}, "amdgcn", "gfx942"),
    ],
)
def test_launch_is_compiled_for_absent_gpu(
    replies_by_id: Replies, folder: Path, target: str, stages: set[str], text: str, said: str
) -> None:
    reply = replies_by_id[target]
    assert (reply["type"], reply["id"], set(reply["stages"])) == ("compiled", target, stages)
    for stage, name in reply["stages"].items():
        assert (folder / name).stat().st_size > 0, stage
    assert said in (folder / reply["stages"][text]).read_text()
    assert reply["registers"] > 0
    assert (reply["spill_bytes"], reply["shared_bytes"]) == (0, 0)


def test_the_line_of_a_narrow_offset_is_reported(replies_by_id: Replies, folder: Path) -> None:
    lines = (folder / "kernel.py").read_text().splitlines()
    assert "tl.program_id(0) * BLOCK" in lines[replies_by_id["sm_90"]["narrow_offset_line"] - 1]


def test_pointers_that_were_aligned_are_compiled_as_aligned(replies_by_id: Replies, folder: Path) -> None:
    ttir = (folder / replies_by_id["sm_90"]["stages"]["ttir"]).read_text()
    signature = next(line for line in ttir.splitlines() if "tt.func public @copy" in line)
    assert len(re.findall(r"tt\.divisibility = 16", signature)) == 3


def test_kernel_compiled_for_display_is_not_published(replies_by_id: Replies) -> None:
    assert [replies_by_id[target]["cache"] for target in ("sm_80", "sm_90", "gfx942")] == [[], [], []]


def test_compile_error_is_reported_with_its_line(replies_by_id: Replies, folder: Path) -> None:
    lines = (folder / "kernel.py").read_text().splitlines()
    reply = replies_by_id["odd"]
    assert (reply["type"], reply["kind"]) == ("failed", "compile")
    assert reply["message"] == "ValueError: arange's range must be a power of 2"
    assert "# LINE odd" in lines[reply["line"] - 1]


def test_shared_memory_beyond_target_limit_is_refused(replies_by_id: Replies) -> None:
    reply = replies_by_id["huge"]
    assert (reply["type"], reply["kind"]) == ("failed", "compile")
    assert re.fullmatch(r"needs \d+ bytes of shared memory, sm_86 has 101376 a block", reply["message"])


def test_kernel_not_made_at_import_is_unsupported(replies_by_id: Replies) -> None:
    assert (replies_by_id["missing"]["kind"], replies_by_id["missing"]["message"]) == (
        "unsupported",
        "nowhere is defined only when the entry runs, so it cannot be compiled separately",
    )


def test_a_binary_is_disassembled_with_its_source_lines(replies_by_id: Replies, folder: Path) -> None:
    assert replies_by_id["sass"] == {"type": "compiled", "id": "sass", "stages": {"sass": "sm_90.sass"}} | {
        "registers": None,
        "spill_bytes": None,
        "shared_bytes": None,
        "narrow_offset_line": None,
        "cache": [],
    }
    sass = (folder / "sm_90.sass").read_text()
    assert "EXIT" in sass
    assert "kernel.py" in sass


def test_a_command_for_another_child_is_refused(replies_by_id: Replies) -> None:
    assert replies_by_id["call"]["message"] == "a compiler does not carry out Release"


def test_unwritable_result_does_not_blame_kernel(replies_by_id: Replies) -> None:
    assert (replies_by_id["unwritable"]["type"], replies_by_id["unwritable"]["kind"]) == ("failed", "engine")
    assert "Not a directory" in replies_by_id["unwritable"]["message"]


def test_compiler_with_a_candidate_builds_no_binaries(replies_by_id: Replies) -> None:
    refused = replies_by_id["binary"]
    assert (refused["type"], refused["kind"]) == ("failed", "engine")
    assert refused["message"] == "a compiler that has loaded a candidate builds no binaries of modules"


def test_fresh_compiler_builds_the_binary_of_a_module(replies_by_id: Replies) -> None:
    built = replies_by_id["fresh binary"]
    assert (built["type"], built["binary"]["name"], built["binary"]["parameters"]) == (
        "binary_built", "one", [8, 8, 8]
    )  # fmt: skip


def test_launch_that_was_not_compiled_here_is_not_described(replies_by_id: Replies) -> None:
    reply = replies_by_id["undescribed"]
    assert (reply["kind"], reply["message"]) == ("engine", "this compiler has not compiled that launch")


def test_fresh_compiler_is_warmed_and_publishes_nothing(replies_by_id: Replies) -> None:
    assert replies_by_id["warmed"] == {"type": "done", "id": "warmed", "compiled": 1, "published": []}


def test_compiler_with_a_candidate_is_not_warmed(replies_by_id: Replies) -> None:
    reply = replies_by_id["warmed with a candidate"]
    assert (reply["type"], reply["kind"]) == ("failed", "engine")
    assert reply["message"] == "a compiler that has loaded a candidate is in use"
