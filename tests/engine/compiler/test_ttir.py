"""TTIR becomes a binary of a device without any Python of a candidate, or is refused with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import triton

from engine.compiler import ttir
from engine.compiler.ttir import compile_ttir, parameters_of
from engine.errors import UnsupportedError
from engine.model import Launch
from engine.protocol.proof.binaries import BinaryRequest, CompileOptions, KernelBinary
from tests.engine.replay.tapes import DOUBLE, launch_record

MIXED = """
module {
  tt.func public @mixed(%y: !tt.ptr<f32>, %s: f32, %t: f64, %b: i1, %c: i8, %d: i16, %e: i64) {
    %t32 = arith.truncf %t : f64 to f32
    %sum = arith.addf %s, %t32 : f32
    %ci = arith.extsi %c : i8 to i64
    %di = arith.extsi %d : i16 to i64
    %i = arith.addi %ci, %di : i64
    %j = arith.addi %i, %e : i64
    %jf = arith.sitofp %j : i64 to f32
    %all = arith.addf %sum, %jf : f32
    %one = arith.select %b, %all, %s : f32
    tt.store %y, %one : !tt.ptr<f32>
    tt.return
  }
}
"""


def request(module: str = DOUBLE, launch: Launch | None = None) -> BinaryRequest:
    """A request for a module, by default of `double`."""
    options = CompileOptions.of(launch or launch_record())
    return BinaryRequest(kernel="double", ttir=module, options=options, target="sm_90")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> KernelBinary:
    return compile_ttir(request(), tmp_path_factory.mktemp("ttir"))


def test_ttir_compiles_to_a_binary_with_its_parameters(compiled: KernelBinary) -> None:
    assert compiled.code.startswith(b"\x7fELF")
    assert (compiled.name, compiled.threads, compiled.shared_bytes, compiled.scratch_bytes) == ("double", 128, 0, 0)
    assert compiled.parameters == (8, 8, 4, 8, 8)


def test_scalars_have_parameters_of_their_size(tmp_path: Path) -> None:
    binary = compile_ttir(request(MIXED), tmp_path)
    assert binary.parameters == (8, 4, 8, 1, 1, 2, 8, 8, 8)


def test_text_that_the_reader_refuses_reaches_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(triton, "compile", lambda *_, **__: pytest.fail("compiled"))
    with pytest.raises(UnsupportedError, match="the TTIR of double is not read: line 1, column 10"):
        compile_ttir(request("module { what }"), tmp_path)


def test_module_that_triton_refuses_does_not_compile(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="the TTIR of double does not compile"):
        compile_ttir(request(launch=replace(launch_record(), num_warps=3)), tmp_path)


def test_binary_that_no_reply_can_carry_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ttir, "MOST_BINARY_BYTES", 100)
    with pytest.raises(UnsupportedError, match="bytes, more than 100"):
        compile_ttir(request(), tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("launch_cooperative_grid", True, "double: a cooperative launch"),
        ("num_ctas", 2, "double: clusters of blocks"),
        ("profile_scratch_size", 8, "double: a kernel that profiles itself"),
    ],
)
def test_launches_that_need_more_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, field: str, value: object, words: str
) -> None:
    fields = {"name": "double", "num_warps": 4, "shared": 0, "target": SimpleNamespace(warp_size=32), field: value}
    made = SimpleNamespace(metadata=SimpleNamespace(**fields), asm={"cubin": b"", "ptx": ".entry d()"})
    monkeypatch.setattr(triton, "compile", lambda *_, **__: made)
    with pytest.raises(UnsupportedError, match=words):
        compile_ttir(request(), tmp_path)


def test_an_array_without_a_tensor_map_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fields = {"name": "double", "num_warps": 4, "shared": 0, "target": SimpleNamespace(warp_size=32)}
    ptx = ".entry d(.param .align 64 .b8 d_param_0[128])"
    made = SimpleNamespace(metadata=SimpleNamespace(**fields), asm={"cubin": b"", "ptx": ptx})
    monkeypatch.setattr(triton, "compile", lambda *_, **__: made)
    with pytest.raises(UnsupportedError, match="double: 1 tensor maps, of which 0 are described"):
        compile_ttir(request(), tmp_path)


@pytest.mark.parametrize(
    ("ptx", "words"),
    [
        ("", "a module with 0 kernels"),
        (".entry a(.param .align 64 .b8 a_param_0[64])", "an array passed by value"),
    ],
)
def test_ptx_with_other_parameters_is_refused(ptx: str, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        parameters_of(ptx)


def test_options_of_a_launch_reach_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: dict[str, object] = {}

    def refuse(path: str, *, target: object, options: dict[str, object]) -> None:
        asked.update(options)
        raise ValueError("enough")

    monkeypatch.setattr(triton, "compile", refuse)
    record = launch_record()
    launch = type(record)(**{**vars_of(record), "options": {"maxnreg": "64", "enable_fp_fusion": "False"}})
    with pytest.raises(UnsupportedError, match="ValueError: enough"):
        compile_ttir(request(launch=launch), tmp_path)
    assert asked == {"num_warps": 4, "num_stages": 3, "maxnreg": 64, "enable_fp_fusion": False}


def vars_of(record: object) -> dict[str, object]:
    return msgspec.structs.asdict(record) if isinstance(record, msgspec.Struct) else dict(vars(record))
