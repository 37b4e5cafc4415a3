"""A worker finds the TTIR that another one has made, with the names of its own files, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.loading.frontend.shared_text import mark_folder
from engine.protocol.compiling import published_name
from engine.worker.cpu_driver.shared_modules import SharedModules


class Source:
    """A kernel's source with this hash, as Triton has it; None for one that has none."""

    def __init__(self, digest: str | None) -> None:
        self.digest = digest

    def hash(self) -> str:
        if self.digest is None:
            raise NameError("y is not defined")
        return self.digest


@dataclass(frozen=True)
class Options:
    num_warps: int = 4


def reader(folder: Path, workspace: str = "/tmp/reader") -> SharedModules:
    found = SharedModules()
    found.read_from((folder,), Path(workspace))
    return found


def publish(folder: Path, ttir: str) -> None:
    """Put a module of `Source("a")` into the folder, made in another workspace."""
    key = reader(folder).key_of(Source("a"), "sm_90", Options(), state="s")
    (folder / published_name(key)).write_text(mark_folder(ttir, Path("/tmp/maker")))


def test_module_is_found_with_names_of_own_files(tmp_path: Path) -> None:
    publish(tmp_path, 'loc("/tmp/maker/candidate/k.py":3:1) loc("/usr/lib/triton/core.py":1:1)')
    modules = reader(tmp_path)
    key = modules.key_of(Source("a"), "sm_90", Options(), state="s")
    assert modules.find(key) == 'loc("/tmp/reader/candidate/k.py":3:1) loc("/usr/lib/triton/core.py":1:1)'


@pytest.mark.parametrize(
    ("source", "target", "options", "state"),
    [
        ("b", "sm_90", Options(), "s"),
        ("a", "sm_80", Options(), "s"),
        ("a", "sm_90", Options(num_warps=8), "s"),
        ("a", "sm_90", Options(), "t"),
    ],
)
def test_module_of_another_specialisation_is_not_found(
    tmp_path: Path, source: str, target: str, options: Options, state: str
) -> None:
    publish(tmp_path, "module {}")
    modules = reader(tmp_path)
    assert modules.find(modules.key_of(Source(source), target, options, state=state)) is None


def test_kernel_without_hash_has_no_key(tmp_path: Path) -> None:
    assert reader(tmp_path).key_of(Source(None), "sm_90", Options(), state="s") == ""
    assert reader(tmp_path).find("") is None


def test_kernel_in_unknown_state_has_no_key(tmp_path: Path) -> None:
    assert reader(tmp_path).key_of(Source("a"), "sm_90", Options(), state="") == ""


@pytest.mark.parametrize("workspace", ['/tmp/a"b', "/tmp/ä", "/tmp/a\\b", "/tmp/a b"])
def test_folder_that_ttir_escapes_shares_nothing(tmp_path: Path, workspace: str) -> None:
    assert mark_folder("module {}", Path(workspace)) == ""
    assert reader(tmp_path, workspace).key_of(Source("a"), "sm_90", Options(), state="s") == ""


def test_source_is_hashed_where_nothing_is_shared() -> None:
    hashed: list[str] = []

    class Hashed(Source):
        def hash(self) -> str:
            hashed.append("once")
            return super().hash()

    assert SharedModules().key_of(Hashed("a"), "sm_90", Options(), state="s") == ""
    assert hashed == ["once"]
