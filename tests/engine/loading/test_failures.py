"""What a candidate raised becomes a kind, a message and a line of its own file."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
from triton.compiler.errors import CompilationError
from triton.runtime.interpreter import InterpreterBuilder

from engine import protocol
from engine.loading.failures import failure
from engine.loading.loader import NoEntryError
from engine.model import Location, OutOfBounds

KERNEL = "/rooms/1/candidate/kernel.py"
Kind = protocol.FailureKind


def failed(source: str, **names: Any) -> protocol.Failed:
    """The failure of this text, run as the candidate's file."""
    try:
        exec(compile(source, KERNEL, "exec"), names)
    except BaseException as error:
        return failure("i", error, KERNEL)
    raise AssertionError("it should have raised")


def test_exception_is_reported_with_type_message_and_line() -> None:
    reported = failed("x = 1\nraise ValueError('shape [2] is wrong')\n")
    assert (reported.id, reported.kind, reported.message, reported.line) == (
        "i",
        Kind.RAISED,
        "ValueError: shape [2] is wrong",
        2,
    )
    assert reported.trace.startswith("Traceback")
    assert reported.trace.endswith("ValueError: shape [2] is wrong\n")


def test_traceback_names_only_the_authors_files() -> None:
    reported = failed("import json\ndef read():\n    json.loads('{')\nread()\n")
    places = [line.strip() for line in reported.trace.splitlines() if line.lstrip().startswith("File ")]
    assert places[-2:] == ['File "kernel.py", line 4, in <module>', 'File "kernel.py", line 3, in read']
    assert not any("decoder.py" in place for place in places)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize(
    "line",
    [
        "torch.empty(3, device='cuda')",
        "torch.cuda.get_device_properties(0)",
        "triton.runtime.driver.active.get_active_torch_device()",
        "triton.runtime.driver.active.utils.get_device_properties(0)",
        "torch.cuda.current_stream()",
        "torch.cuda.Stream()",
        "torch.cuda.Event(enable_timing=True)",
        "torch.cuda.CUDAGraph()",
        "torch.zeros(3).cuda()",
        "torch.cuda.device(torch.zeros(3).device)",
        "torch._C._cuda_getCurrentRawStream(0)",
        "torch.accelerator.current_stream()",
    ],
)
def test_request_for_a_missing_gpu_is_unsupported(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", None)  # another test of this process may have set one
    reported = failed(f"import torch, triton\n{line}\n")
    assert (reported.kind, reported.line) == (Kind.UNSUPPORTED, 2)
    assert reported.message.startswith("needs a GPU, and this machine has none: ")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_error_raised_over_a_missing_gpu_is_unsupported() -> None:
    source = (
        "import torch\ntry:\n    torch.cuda.current_stream()\nexcept AssertionError:\n    raise ValueError('no GPU')\n"
    )
    assert failed(source).kind is Kind.UNSUPPORTED


@pytest.mark.parametrize("line", ["torch.cuda.current_strem()", "torch._C._no_such_thing", "torch.cudaa.Stream()"])
def test_misspelt_name_of_torch_is_an_error(line: str) -> None:
    assert failed(f"import torch\n{line}\n").kind is Kind.RAISED


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import no_such_library", "missing package no_such_library: not installed; "),
        ("from no_such_library.kernels import fast", "missing package no_such_library: "),
        ("import triton.ops", f"triton.ops is missing from Triton {triton.__version__}, which is installed here; "),
        ("import triton.language as tl; tl.libdevice_ = tl._experimental_descriptor_load", "Triton 3.3 has it"),
    ],
)
def test_missing_package_or_feature_is_unsupported(line: str, message: str) -> None:
    reported = failed(f"\n{line}\n")
    assert (reported.kind, reported.line) == (Kind.UNSUPPORTED, 2)
    assert message in reported.message


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [("_experimental_descriptor_load", Kind.UNSUPPORTED, "Triton 3.3 has it"), ("laod", Kind.COMPILE, "no attribute")],
)
def test_feature_missing_in_a_kernel_names_its_version(name: str, kind: Kind, message: str) -> None:
    try:
        try:
            getattr(triton.language, name)
        except AttributeError as error:
            raise CompilationError("", None, repr(error)) from None
    except CompilationError as error:
        reported = failure("i", error, KERNEL)
    assert reported.kind is kind
    assert message in reported.message


def test_removed_block_pointers_name_a_version_and_the_remedy() -> None:
    arguments = ", ".join(["None"] * 6)
    reported = failed(f"\ntl.make_block_ptr({arguments}, _semantic=0)\n", tl=triton.language)
    assert (reported.kind, reported.line) == (Kind.UNSUPPORTED, 2)
    assert reported.message == (
        f"triton.language.make_block_ptr is missing from Triton {triton.__version__}, which is installed here; "
        "Triton 3.6 has it; Block pointers have been removed in favor of the tensor descriptor API"
    )


def test_operation_that_the_interpreter_lacks_is_unsupported() -> None:
    reported = failed("\nbuilder.no_such_operation()\n", builder=InterpreterBuilder())
    assert (reported.kind, reported.line) == (Kind.UNSUPPORTED, 2)
    assert reported.message == (
        "Triton's interpreter does not support this operation: its builder has no no_such_operation"
    )


def test_equal_messages_of_a_chain_are_traced_once() -> None:
    reported = failed(
        "try:\n    raise ValueError('x')\nexcept ValueError as error:\n    raise ValueError('x') from error\n"
    )
    assert reported.trace.count("ValueError: x") == 1


@pytest.mark.parametrize("line", ["import triton.languages", "import json.nothing", "tl.laod"])
def test_misspelt_import_is_an_error(line: str) -> None:
    assert failed(line, tl=triton.language).kind is Kind.RAISED


_COPY = "the file runs as a copy, without the other files of its folder"


@pytest.mark.parametrize("path", ["weights.bin", "data/weights.bin", "/rooms/1/candidate/weights.bin"])
def test_missing_file_of_the_folder_states_remedy(path: str) -> None:
    reported = failed(f"open({path!r})")
    assert reported.kind is Kind.RAISED
    assert reported.message.endswith(f" ({_COPY}: put the data into the source, or open it by its absolute path)")


@pytest.mark.parametrize("line", ["open('/nowhere/weights.bin')", "import subprocess; subprocess.run(['no-nvcc'])"])
def test_missing_file_elsewhere_has_no_remedy(line: str) -> None:
    reported = failed(line)
    assert reported.message.startswith("FileNotFoundError: ")
    assert _COPY not in reported.message


def test_refused_path_error_states_path_and_remedy() -> None:
    reported = failed("raise PermissionError(13, 'Permission denied', '/opt/cache')")
    assert reported.kind is Kind.RAISED
    assert reported.message.endswith(
        "('/opt/cache' is refused: a kernel may write below HOME, TMPDIR and XDG_CACHE_HOME only; "
        "set its cache folder there)"
    )


@pytest.mark.parametrize(
    "line",
    [
        "import sqlite3; sqlite3.connect('/nowhere/cache.db')",
        "import sqlite3; sqlite3.connect('file:empty?mode=ro&vfs=memdb', uri=True).execute('create table t (a)')",
    ],
)
def test_refused_database_error_states_remedy(line: str) -> None:
    reported = failed(line)
    assert reported.kind is Kind.RAISED
    assert reported.message.endswith(
        "(the path of the database is refused or does not exist: a kernel may write below HOME, TMPDIR and "
        "XDG_CACHE_HOME only; set its cache folder there)"
    )


def test_same_error_from_elsewhere_is_error() -> None:
    reported = failed(
        "def _lazy_init():\n    raise AssertionError('Torch not compiled with CUDA enabled')\n_lazy_init()\n"
    )
    assert reported.kind is Kind.RAISED


def test_exception_without_message_is_its_type() -> None:
    assert failed("assert False\n").message == "AssertionError"


def test_deepest_line_of_candidate_is_reported() -> None:
    reported = failed("def inner():\n    int('x')\n\ndef outer():\n    inner()\n\nouter()\n")
    assert reported.line == 2


def test_message_of_invalid_text_can_be_reported() -> None:
    reported = failed("raise ValueError('\\ud800')\n")
    assert protocol.decode_reply(protocol.encode(reported)) == reported


def test_unprintable_exception_is_reported_by_type() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise KeyError("no words")

    assert failed("raise error\n", error=SilentError()).message == "SilentError"


def test_lines_of_other_files_are_passed_over() -> None:
    def elsewhere() -> None:
        raise KeyError("deep")

    reported = failed("def call():\n    elsewhere()\ncall()\n", elsewhere=elsewhere)
    assert (reported.message, reported.line) == ("KeyError: 'deep'", 2)


def test_an_exception_from_elsewhere_has_no_line() -> None:
    assert failure("i", ValueError("x"), KERNEL).line is None


def test_cause_is_reported_before_effect_with_its_line() -> None:
    reported = failed(
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('late') from error\n"
    )
    assert (reported.message, reported.line) == ("ZeroDivisionError: division by zero", 2)
    assert "which led to RuntimeError: late\n" in reported.trace


def test_causes_in_a_circle_end() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert failure("i", first, KERNEL).message == "KeyError: 'b'"


@pytest.mark.parametrize(("code", "shown"), [("0", "0"), ("", "None"), ("'done'", "'done'")])
def test_exit_is_reported_whatever_its_status(code: str, shown: str) -> None:
    reported = failed(f"import sys\nsys.exit({code})\n")
    assert (reported.kind, reported.line) == (Kind.EXITED, 2)
    assert reported.message == f"it called sys.exit({shown}); a candidate returns, it does not exit"


def test_a_keyboard_interrupt_is_an_exit_too() -> None:
    assert failed("raise KeyboardInterrupt\n").kind is Kind.EXITED


@pytest.mark.parametrize(
    "source", ["raise MemoryError\n", "import torch\nraise torch.OutOfMemoryError('CUDA out of memory')\n"]
)
def test_memory_errors_are_out_of_memory(source: str) -> None:
    assert failed(source).kind is Kind.OUT_OF_MEMORY


def test_torchs_own_failed_allocation_is_out_of_memory() -> None:
    reported = failed("import torch\ntorch.empty(1 << 50)\n")
    assert (reported.kind, reported.line) == (Kind.OUT_OF_MEMORY, 2)


def test_numpys_own_failed_allocation_is_out_of_memory() -> None:
    assert failed("import numpy\nnumpy.empty(1 << 50)\n").kind is Kind.OUT_OF_MEMORY


def test_allocation_above_memory_limit_is_out_of_memory() -> None:
    program = (
        "import resource, torch\nfrom engine.loading.failures import failure\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)\n"
        "try:\n    torch.ones(1 << 30)\n"
        "except BaseException as error:\n    print(failure('i', error, '').kind)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("out_of_memory\n", 0), done.stderr


def test_error_mentioning_memory_is_not_failed_allocation() -> None:
    assert failed("raise RuntimeError('out of memory, said the sage')\n").kind is Kind.RAISED


def test_missing_entry_is_its_own_kind() -> None:
    reported = failure("i", NoEntryError("define it"), KERNEL)
    assert (reported.kind, reported.message) == (Kind.NO_ENTRY, "define it")


BOUNDS = OutOfBounds(
    access="load", kernel="k", tensor="x", index=9, elements=8, program=(0, 0, 0), location=Location(line=3)
)


def test_violation_is_found_below_its_effect() -> None:
    inner = Exception("out-of-bounds load")
    inner.report = BOUNDS  # type: ignore[attr-defined]  # as the guard's own error carries it
    outer = RuntimeError("Exception('out-of-bounds load')")
    outer.__cause__ = inner
    reported = failure("i", outer, KERNEL)
    assert (reported.kind, reported.message, reported.out_of_bounds) == (
        Kind.OUT_OF_BOUNDS,
        "out-of-bounds load",
        BOUNDS,
    )


def test_forged_report_is_not_a_violation() -> None:
    reported = failed("error = ValueError('x')\nerror.report = {'tensor': 'x'}\nraise error\n")
    assert (reported.kind, reported.out_of_bounds) == (Kind.RAISED, None)


def test_compile_errors_of_triton_are_compile_errors() -> None:
    def not_built() -> None:
        from triton.compiler.errors import CompilationError

        raise CompilationError("src", None, "no")

    assert failed("not_built()\n", not_built=not_built).kind is Kind.COMPILE


@pytest.mark.parametrize(
    ("met", "remedy"),
    [
        ("(1).to", "use tl.cast"),
        ("(1).reshape", "make it a tensor by tl.cast"),
        ("(1).nothing", ""),
        ("''.to", ""),
    ],
)
def test_method_of_a_constant_in_a_kernel_states_remedy(met: str, remedy: str) -> None:
    reported = failed(
        f"try:\n    {met}\nexcept AttributeError as error:\n    raise CompilationError('src', None, repr(error))\n",
        CompilationError=CompilationError,
    )
    said = f" (a constant here, as an argument is that equals 1: {remedy}, or name the argument in do_not_specialize)"
    assert reported.message.rpartition('")')[2] == (said if remedy else "")


def test_syntax_error_has_its_line() -> None:
    reported = failed("import ast\nast.parse('x = 1\\ny = = 2\\n', FILE)\n", FILE=KERNEL)
    assert (reported.kind, reported.line) == (Kind.RAISED, 2)


@pytest.mark.parametrize(
    "raise_it",
    [
        "raise ValueError('x' * 10_000_000)\n",
        "raise SystemExit('x' * 10_000_000)\n",
        "def f():\n    f()\nf()\n",
    ],
)
def test_a_failure_always_fits_on_a_line(raise_it: str) -> None:
    reported = failed(raise_it)
    assert len(reported.message) <= 2000
    assert len(protocol.encode(reported)) < protocol.MAX_LINE_BYTES


def test_triton_frontend_error_has_line_of_file(tmp_path: Path) -> None:
    kernel = "def k(x):\n    a = 1\n    b = [a]\n"
    file = tmp_path / "kernel.py"
    file.write_text(f"import triton\n\n@triton.jit\n{kernel}")
    wrong = next(node for node in ast.walk(ast.parse(kernel)) if isinstance(node, ast.Assign) and node.lineno == 3)
    error = CompilationError(kernel, wrong, "lists are not known")
    reported = failure("i", error, str(file))
    assert (reported.kind, reported.message, reported.line) == (
        Kind.COMPILE,
        "CompilationError: lists are not known",
        6,
    )
