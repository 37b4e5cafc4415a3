"""What a candidate gets of torch's functions that build extensions: published libraries, or a request."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine.model.native import NativeLanguage
from engine.protocol import ExtensionRequest, NativeSource
from tests.forking import Forking

CPP = NativeSource(label="cpp_sources[0]", language=NativeLanguage.CPP, text="int f();")
CUDA = NativeSource(label="cuda_sources[0]", language=NativeLanguage.CUDA, text="int g;")
PROGRAM = """
import json, sys
from pathlib import Path
from engine import protocol
from engine.loading import failures
from engine.loading.extensions import serve_extensions
serve_extensions(protocol.ExtensionAccess(folder={folder!r}, no_cuda={no_cuda!r}))
reported = {{}}
try:
    from torch.utils.cpp_extension import load_inline, load
    reported["value"] = str({call})
except BaseException as error:
    failed = failures.failure("i", error, "candidate.py")
    reported = dict(kind=failed.kind, message=failed.message)
    if failed.extension is not None:
        reported["key"] = failed.extension.key
sys.__stdout__.write(json.dumps(reported))
"""
Serve = Callable[..., dict[str, Any]]


@pytest.fixture
def serve(tmp_path: Path, fresh_process: Forking) -> Serve:
    """What a call comes to in a process where extensions are taken from the folder `built`."""

    def serve(call: str, *, no_cuda: str = "") -> dict[str, Any]:
        program = PROGRAM.format(folder=str(tmp_path / "built"), no_cuda=no_cuda, call=call)
        done = fresh_process.run(program, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        reported: dict[str, Any] = json.loads(done.stdout)
        return reported

    return serve


def test_a_published_library_is_imported(serve: Serve, tmp_path: Path) -> None:
    request = ExtensionRequest(name="_bisect", sources=(CPP,), functions={"bisect": "bisect"})
    place = tmp_path / "built" / request.key
    place.mkdir(parents=True)
    spec = find_spec("_bisect")
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        pytest.skip("this Python has no extension module in a file of its own")
    shutil.copy(spec.origin, place / "library.so")
    call = "load_inline('_bisect', 'int f();', functions=['bisect']).bisect_left([1, 2, 4], 3)"
    assert serve(call) == {"value": "2"}


@pytest.mark.parametrize(
    ("call", "request_of"),
    [
        (
            "load_inline(name='m', cpp_sources=['int f();'], cuda_sources='int g;', functions='f')",
            ExtensionRequest(name="m", sources=(CPP, CUDA), functions={"f": "f"}, with_cuda=True),
        ),
        (
            "load_inline('m', 'int f();', extra_cflags=['-g'], extra_ldflags=['-lm'], functions={'f': 'Doc.'})",
            ExtensionRequest(name="m", sources=(CPP,), functions={"f": "Doc."}, cxx_flags=("-g",), link_flags=("-lm",)),
        ),
        (
            "load_inline('m', ['int f();'], ['int g;'], no_implicit_headers=True, separate_units=True)",
            ExtensionRequest(name="m", sources=(CPP, CUDA), joined=False, has_headers=False, with_cuda=True),
        ),
    ],
)
def test_a_library_that_is_missing_is_requested(serve: Serve, call: str, request_of: ExtensionRequest) -> None:
    reported = serve(call)
    assert (reported["kind"], reported["key"]) == ("extension", request_of.key)


def test_files_are_read_and_requested_as_units(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("int g;")
    sources = (NativeSource(label="a.cu", language=NativeLanguage.CUDA, text="int g;"),)
    request = ExtensionRequest(
        name="m", sources=sources, joined=False, with_cuda=True, include_folders=(str(tmp_path.resolve()),)
    )
    assert serve("load('m', ['a.cu'])")["key"] == request.key


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            "load_inline('m', '', 'int g;')",
            "unsupported",
            "extension 'm' could not be built here: no nvcc",
        ),
        (
            "load_inline('../m', '')",
            "raised",
            "ValueError: the name of an extension becomes that of a Python module, got '../m'",
        ),
        (
            "load_inline('m', 'int f();', functions='f', separate_units=True)",
            "raised",
            "ValueError: separate_units takes no functions and needs no_implicit_headers=True",
        ),
        (
            "load_inline('m', 'x' * (1 << 21))",
            "unsupported",
            "extension 'm' has more than 1,048,576 characters",
        ),
    ],
)
def test_unsupported_extension_is_refused(serve: Serve, call: str, kind: str, message: str) -> None:
    assert serve(call, no_cuda="no nvcc") == {"kind": kind, "message": message}
