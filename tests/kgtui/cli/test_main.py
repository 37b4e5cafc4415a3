"""The program itself: a process with real streams, the real engine, and signals."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

KGTUI = (sys.executable, "-m", "kgtui")
NEVER_LOADS = "# kgtui: op=aten::silu\nprint('here', flush=True)\nwhile True: pass\ndef silu(self): ...\n"


CORPUS = Path(__file__).parents[2] / "corpus"


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Where the program puts what it removes again; children with a user of their own must get there."""
    with tempfile.TemporaryDirectory(prefix="kgtui-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def environment(tmp_path, temporary):
    return {**os.environ, "KGTUI_HOME": str(tmp_path / "home"), "TMPDIR": str(temporary)}


@pytest.fixture
def run(tmp_path, environment):
    """Run the program to its end."""

    def started(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        defaults: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.run(
            [*KGTUI, *arguments], cwd=tmp_path, env=environment, text=True, check=False, **{**defaults, **options}
        )

    return started


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_usage_error(environment, tmp_path, closed):
    typed = f"{sys.executable} -m kgtui check nothing.py {closed}; echo $?"
    ended = subprocess.run(["sh", "-c", typed], cwd=tmp_path, env=environment, capture_output=True, text=True)
    said = "kgtui: " in ended.stderr
    assert (ended.stdout, said) == ("2\n", "2>" not in closed)


def test_the_sample_passes_in_the_real_engine(run):
    ended = run("check", "--sample", "--cases", "smoke", "--json", "--device", "cpu")
    document = json.loads(ended.stdout)
    assert ended.returncode == 0
    assert (document["verdict"]["outcome"], document["verdict"]["passed"]) == ("pass", 3)
    assert all(kernel["registers"] for kernel in document["kernels"])
    for kernel in document["kernels"]:
        assert {"ttir", "ttgir", "llir", "ptx", "cubin", "sass"} <= {kept["kind"] for kept in kernel["artefacts"]}


def test_a_wrong_kernel_fails_in_the_real_engine(run, tmp_path):
    text = "# kgtui: op=aten::silu cases=smoke target=none\ndef silu(self):\n    return self * 2\n"
    (tmp_path / "k.py").write_text(text)
    ended = run("check", "k.py", "--device", "cpu")
    assert ended.returncode == 1
    verdict, repeated = ended.stdout.splitlines()[-2:]
    assert verdict.startswith("verdict  wrong_value ")
    assert repeated.startswith("         to draw the same inputs again: kgtui check FILE --seed ")


@pytest.mark.parametrize(
    ("file", "exit_code", "outcome", "layers"),
    [
        ("honest/silu.py", 0, "pass", {"static", "behaviour", "ablation"}),
        ("cheats/kernel_for_show/fig_leaf.py", 4, "pass", {"static", "behaviour", "ablation"}),
        ("wrong/add_ignores_alpha.py", 1, "wrong_value", {"static"}),
    ],
)
def test_the_real_engine_inspects_a_kernel(run, file, exit_code, outcome, layers):
    ended = run("inspect", str(CORPUS / file), "--device", "cpu", "--target", "none", "--json")
    document = json.loads(ended.stdout)
    assert ended.returncode == exit_code, ended.stderr
    assert (document["verdict"]["outcome"], document["verdict"]["flagged"]) == (outcome, exit_code == 4)
    checked = {layer["layer"] for layer in document["layers"] if layer["coverage"] == "checked"}
    assert checked & {"static", "behaviour", "ablation", "timing"} == layers


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_ends_run_with_verdict_and_no_child(tmp_path, temporary, environment, number, exit_code):
    (tmp_path / "k.py").write_text(NEVER_LOADS)
    process = subprocess.Popen(
        [*KGTUI, "check", "k.py", "--target", "none", "--device", "cpu"],
        cwd=tmp_path,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr.readline() == "log      stdout here\n"
    children = _children(process.pid)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == exit_code
    assert out.splitlines()[-1].startswith("verdict  cancelled cancelled")
    assert err == ""
    assert children
    assert _alive(children) == []
    assert list(temporary.iterdir()) == []


def test_closed_reader_ends_run_quietly(tmp_path, environment):
    (tmp_path / "k.py").write_text("# kgtui: op=aten::silu\n(\n")
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [*KGTUI, "check", "k.py"], cwd=tmp_path, env=environment, text=True, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    _, err = process.communicate()
    assert (process.returncode, err) == (141, "")


def test_unwritable_output_is_reported(run):
    with Path("/dev/full").open("w") as full:
        ended = run("problems", stdout=full)
    assert ended.returncode == 3
    assert ended.stderr == "kgtui: No space left on device; is a disk full or read-only?\n"


def test_non_utf_8_name_is_verified_and_printed(run, tmp_path):
    name = os.fsdecode(b"k\xff.py")
    (tmp_path / name).write_text("# kgtui: op=aten::silu cases=smoke target=none\ndef silu(self):\n    return self\n")
    ended = run("check", name, "--device", "cpu", "--json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["file"] == "k\\udcff.py"


def test_an_ascii_locale_does_not_end_a_command(tmp_path, environment):
    ascii_only = {**environment, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ended = subprocess.run(
        [*KGTUI, "check", "größe.py"], cwd=tmp_path, env=ascii_only, capture_output=True, check=False
    )
    assert ended.returncode == 2
    assert b"does not exist; create it with `kgtui new`" in ended.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["--version"]])
def test_help_is_on_stdout(run, arguments):
    ended = run(*arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


def test_a_command_that_does_not_exist(run):
    ended = run("chek")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "kgtui: no such command or file: 'chek'; did you mean `kgtui check`?\n"


def test_workbench_verifies_sample_and_exits_on_ctrl_q(tmp_path, environment):
    process, screen = _in_a_terminal(tmp_path, {**environment, "TERM": "xterm-256color"}, "open", "--sample")
    _read_until(screen, b"passed")
    mapped = Path(f"/proc/{process.pid}/maps").read_text()
    children = _children(process.pid)
    os.write(screen, b"\x11")
    _read_until(screen, None)
    assert process.wait() == 0
    os.close(screen)
    assert (tmp_path / "kernels" / "softmax.py").is_file()
    assert "libtorch" not in mapped
    assert "libtriton" not in mapped
    assert children
    assert _alive(children) == []


def test_workbench_exits_with_its_terminal(tmp_path, environment):
    process, screen = _in_a_terminal(tmp_path, {**environment, "TERM": "xterm-256color"}, "open", "--sample")
    _read_until(screen, b"passed")
    children = _children(process.pid)
    os.close(screen)
    assert process.wait() == 129
    assert children
    assert _alive(children) == []


def _alive(pids):
    """Name, state and parent of each of these processes that is still there."""
    statuses = [Path(f"/proc/{pid}/stat") for pid in pids if Path(f"/proc/{pid}").exists()]
    return [" ".join(status.read_text().split()[1:4]) for status in statuses]


def _in_a_terminal(folder, environment, *arguments):
    """The program on a terminal of its own, and our end of that terminal."""
    ours, theirs = pty.openpty()
    script = textwrap.dedent("""\
        import fcntl, os, struct, sys, termios
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        os.execv(sys.argv[1], sys.argv[1:])
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", script, *KGTUI, *arguments],
        cwd=folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    return process, ours


def _read_until(screen, wanted):
    """Read what is drawn until `wanted` is there; to the end for None."""
    drawn = b""
    with contextlib.suppress(OSError):  # what Linux says at the end of a terminal
        while wanted is None or wanted not in drawn:
            chunk = os.read(screen, 65536)
            if not chunk:
                break
            drawn += chunk
    assert wanted is None or wanted in drawn
    return drawn


def _children(pid):
    """Every process below this one; one that ends meanwhile, as ptxas does, has none."""
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *_children(child)]
    return found
