"""A worker finds the TTIR that another one has made, with the names of its own files, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.protocol.compiling import PublishedKernel
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


def made_by(workspace: str, ttir: str) -> PublishedKernel:
    """What a worker with this folder hands on of a module that its frontend made."""
    maker = SharedModules()
    maker.read_from((), Path(workspace))
    maker.collect()
    maker.keep(maker.key_of(Source("a"), "sm_90", Options()), ttir)
    (kernel,) = maker.take()
    return kernel


def reader(folder: Path, workspace: str = "/tmp/reader") -> SharedModules:
    found = SharedModules()
    found.read_from((folder,), Path(workspace))
    return found


def test_module_is_found_with_names_of_own_files(tmp_path: Path) -> None:
    kernel = made_by("/tmp/maker", 'loc("/tmp/maker/candidate/k.py":3:1) loc("/usr/lib/triton/core.py":1:1)')
    (tmp_path / kernel.filename(kernel.key)).write_text(kernel.ttir)
    modules = reader(tmp_path)
    key = modules.key_of(Source("a"), "sm_90", Options())
    assert modules.find(key) == 'loc("/tmp/reader/candidate/k.py":3:1) loc("/usr/lib/triton/core.py":1:1)'


@pytest.mark.parametrize(
    ("source", "target", "options"),
    [("b", "sm_90", Options()), ("a", "sm_80", Options()), ("a", "sm_90", Options(num_warps=8))],
)
def test_module_of_another_specialisation_is_not_found(
    tmp_path: Path, source: str, target: str, options: Options
) -> None:
    kernel = made_by("/tmp/maker", "module {}")
    (tmp_path / kernel.filename(kernel.key)).write_text(kernel.ttir)
    modules = reader(tmp_path)
    assert modules.find(modules.key_of(Source(source), target, options)) is None


def test_kernel_without_hash_has_no_key(tmp_path: Path) -> None:
    assert reader(tmp_path).key_of(Source(None), "sm_90", Options()) == ""
    assert reader(tmp_path).find("") is None


@pytest.mark.parametrize("workspace", ['/tmp/a"b', "/tmp/ä", "/tmp/a\\b", "/tmp/a b"])
def test_folder_that_ttir_escapes_shares_nothing(tmp_path: Path, workspace: str) -> None:
    assert reader(tmp_path, workspace).key_of(Source("a"), "sm_90", Options()) == ""


def test_each_module_is_taken_once() -> None:
    maker = SharedModules()
    maker.read_from((), Path("/tmp/maker"))
    maker.collect()
    maker.keep("1" * 64, "module {}")
    assert maker.take() == (PublishedKernel(key="1" * 64, ttir="module {}"),)
    assert maker.take() == ()


def test_worker_that_does_not_collect_keeps_nothing(tmp_path: Path) -> None:
    modules = reader(tmp_path)
    modules.keep("1" * 64, "module {}")
    assert modules.take() == ()


def test_source_is_hashed_where_nothing_is_shared() -> None:
    hashed: list[str] = []

    class Hashed(Source):
        def hash(self) -> str:
            hashed.append("once")
            return super().hash()

    assert SharedModules().key_of(Hashed("a"), "sm_90", Options()) == ""
    assert hashed == ["once"]
