"""From a dry run to a launch that finds everything compiled, in three processes and without a device."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.processes.builds.kernel_cache import publish
from tests.forking import forking

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# Lengths of rows: divisible by 16 or not, one or several blocks, and a second time what came before.
COLUMNS = [33, 781, 128, 40000, 35]


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """What the processes said about one candidate."""

    dry_runs: list[list[dict[str, Any]]]
    compiled: list[dict[str, Any]]
    cache: Path
    cache_folder: Path
    path: Path
    entry: str

    @property
    def launches(self) -> list[dict[str, Any]]:
        return [met for case in self.dry_runs for met in case]


_PROGRAM = """
import io, os, sys

folder, cache, asked = sys.argv[1:]
os.environ |= {"HOME": cache, "TRITON_CACHE_DIR": cache}
sys.path.insert(0, folder)
sys.stdin = io.StringIO(asked)
import ahead

ahead.main()
"""

Play = Callable[..., Any]


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    """Has one of the processes do its part, with a Triton cache of its own."""
    with forking("engine.compiler.main", "engine.worker.main", folder=tmp_path_factory.mktemp("said")) as server:

        def played(cache: Path, **asked: Any) -> Any:
            done = server.run(_PROGRAM, str(HERE), str(cache), json.dumps(asked), cwd=cache.parent)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        yield played


CANDIDATES = {
    "sample": ROOT / "kgtui" / "samples" / "softmax.py",
    "autotuned": ROOT / "tests" / "corpus" / "honest" / "softmax_autotune.py",
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, play: Play) -> Callable[[str], Ahead]:
    """A candidate by its name: run dry in one process, compiled in another, and published; once for all tests."""

    @functools.cache
    def prepare(name: str) -> Ahead:
        folder, path = tmp_path_factory.mktemp(name), CANDIDATES[name]
        cache_folder = folder / "kernels"
        cache_folder.mkdir()
        (folder / "stages").mkdir()
        dry_runs = play(folder / "dry", role="run_dry", path=str(path), entry="softmax", columns=COLUMNS)
        launches = [met for case in dry_runs for met in case]
        compiled = play(
            folder / "compiling",
            role="compile",
            path=str(path),
            entry="softmax",
            launches=launches,
            folder=str(folder / "stages"),
        )
        for reply in compiled:
            publish(tuple(reply.get("cache", ())), folder / "compiling", cache_folder)
        return Ahead(
            dry_runs=dry_runs, compiled=compiled, cache=folder, cache_folder=cache_folder, path=path, entry="softmax"
        )

    return prepare


@pytest.fixture(params=list(CANDIDATES))
def ahead(request: pytest.FixtureRequest, prepared: Callable[[str], Ahead]) -> Ahead:
    """Each of the candidates."""
    return prepared(request.param)


def launched(play: Play, ahead: Ahead, cache_folder: Path, columns: list[int] = COLUMNS) -> int:
    """How many kernels are compiled at the launch."""
    place = ahead.cache / f"launching {cache_folder.name}"
    reported: int = play(
        place, role="launch", path=str(ahead.path), entry=ahead.entry, columns=columns, cache_folder=str(cache_folder)
    )
    return reported


@pytest.mark.parametrize(
    ("warps", "changes_ttir", "made"),
    [(None, False, 0), (2, False, 2), (None, True, 2)],
    ids=["the same", "other options", "other module"],
)
def test_prebuilt_binary_requires_same_module_and_options(
    play: Play, prepared: Callable[[str], Ahead], tmp_path: Path, warps: int | None, changes_ttir: bool, made: int
) -> None:
    ahead, cache_folder = prepared("sample"), tmp_path / "kernels"
    cache_folder.mkdir()
    (tmp_path / "stages").mkdir()
    replies = play(
        tmp_path / "compiling", role="compile shared", path=str(ahead.path), entry=ahead.entry, warps=warps,
        changes_ttir=changes_ttir,
        launches=[met for case in ahead.dry_runs[:2] for met in case], folder=str(tmp_path / "stages"),
    )  # fmt: skip
    for reply in replies:
        assert reply["type"] == "compiled", reply.get("message")
        publish(tuple(reply["cache"]), tmp_path / "compiling", cache_folder)
    assert [(reply["made"], reply["lowered"]) for reply in replies] == [(made, made)] * 2
    assert launched(play, ahead, cache_folder, COLUMNS[:2]) == 0
    texts = [path.relative_to(cache_folder) for kind in ("source", "ttir") for path in cache_folder.glob(f"*/*.{kind}")]
    assert len(texts) == 4
    for text in texts:
        assert (cache_folder / text).read_text() == (ahead.cache_folder / text).read_text()
    own = [reply for reply in ahead.compiled if reply["type"] == "compiled"][:2]
    for one, other in zip(replies, own, strict=True):
        assert {name: one[name] for name in ("registers", "shared_bytes")} == {
            name: other[name] for name in ("registers", "shared_bytes")
        }
        assert set(one["stages"]) == set(other["stages"])


def test_launched_kernel_takes_prebuilt_binary(play: Play, prepared: Callable[[str], Ahead], tmp_path: Path) -> None:
    """A launch that was made has no description of Triton's, and its compile has the same stages."""
    ahead = prepared("sample")
    (tmp_path / "stages").mkdir()
    [reply] = play(
        tmp_path / "compiling", role="compile shared", path=str(ahead.path), entry=ahead.entry, warps=None,
        changes_ttir=False, launches=[{**ahead.dry_runs[0][0], "specialisation": ""}], folder=str(tmp_path / "stages"),
    )  # fmt: skip
    assert (reply["type"], reply["made"], reply["lowered"]) == ("compiled", 0, 0)
    assert set(reply["stages"]) == set(next(one for one in ahead.compiled if one["type"] == "compiled")["stages"])


def test_a_dry_run_compiles_nothing(ahead: Ahead) -> None:
    assert list((ahead.cache / "dry").glob("**/*.cubin")) == []
    assert len(ahead.launches) > 0


def test_every_case_reports_all_its_launches(ahead: Ahead) -> None:
    assert [len(case) > 0 for case in ahead.dry_runs] == [True] * len(COLUMNS)


def test_dry_run_kernel_is_found_at_launch(play: Play, ahead: Ahead) -> None:
    assert launched(play, ahead, ahead.cache_folder) == 0


def test_kernels_compile_at_launch_without_cache(play: Play, ahead: Ahead) -> None:
    assert launched(play, ahead, ahead.cache / "empty") > 0


def test_kernel_without_dry_run_compiles_at_launch(play: Play, ahead: Ahead) -> None:
    assert launched(play, ahead, ahead.cache_folder, [300, *COLUMNS]) > 0


def test_compiler_reports_new_files_of_its_cache_once(ahead: Ahead) -> None:
    reported = [name for reply in ahead.compiled for name in reply.get("cache", ())]
    assert len(reported) == len(set(reported))
    there = {path.relative_to(ahead.cache / "compiling").as_posix() for path in ahead.cache.glob("compiling/*/*")}
    assert set(reported) <= there
    assert {path.relative_to(ahead.cache_folder).as_posix() for path in ahead.cache_folder.glob("*/*")} == set(reported)


def test_a_launch_keeps_the_stages_that_are_shown(ahead: Ahead) -> None:
    built = [reply for reply in ahead.compiled if reply["type"] == "compiled"]
    assert {frozenset(reply["stages"]) for reply in built} == {frozenset({"ttir", "ttgir", "llir", "ptx", "cubin"})}
    assert [reply["registers"] > 0 for reply in built] == [True] * len(built)


def test_every_tuner_configuration_is_dry_run(
    prepared: Callable[[str], Ahead],
) -> None:
    tuned = prepared("autotuned")
    configurations = {tuple(sorted(met["launch"]["constants"].items())) for met in tuned.dry_runs[0]}
    assert len(configurations) == 4
    refused = [
        (reply["kind"], "holds whole rows only" in reply["message"])
        for reply in tuned.compiled
        if reply["type"] == "failed"
    ]
    assert len(refused) > 0
    assert set(refused) == {("compile", True)}


def test_launches_are_reported_in_order_with_grids(prepared: Callable[[str], Ahead]) -> None:
    kernels = [(met["launch"]["kernel"], met["launch"]["grid"]) for met in prepared("sample").launches]
    assert kernels == [
        ("softmax_short_rows", [1]),
        ("softmax_short_rows", [2]),
        ("softmax_short_rows", [1]),
        ("softmax_long_rows", [4]),
        ("softmax_short_rows", [1]),
    ]
