"""A program of a test runs in a process of its own: nothing of one is left for the next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forking import Forking, forking


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    """A server that has imported a module."""
    with forking("fractions", folder=tmp_path_factory.mktemp("written")) as server:
        yield server


def test_program_has_its_arguments_folder_and_imports(server: Forking, tmp_path: Path) -> None:
    program = "import os, sys\nprint(sys.argv[1:], os.getcwd(), 'fractions' in sys.modules)"
    done = server.run(program, "a", "b", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"['a', 'b'] {tmp_path} True\n", "")


def test_changes_by_program_do_not_reach_the_next(server: Forking, tmp_path: Path) -> None:
    server.run("import fractions\nfractions.mark = 1", cwd=tmp_path)
    assert server.run("import fractions\nprint(hasattr(fractions, 'mark'))", cwd=tmp_path).stdout == "False\n"


@pytest.mark.parametrize(
    ("program", "status"), [("raise SystemExit(3)", 3), ("1 / 0", 1), ("import os\nos.kill(os.getpid(), 9)", -9)]
)
def test_forked_program_returns_exit_status(server: Forking, tmp_path: Path, program: str, status: int) -> None:
    assert server.run(program, cwd=tmp_path).returncode == status


def test_program_error_is_in_its_own_stream(server: Forking, tmp_path: Path) -> None:
    assert server.run("1 / 0", cwd=tmp_path).stderr.endswith("ZeroDivisionError: division by zero\n")


def test_program_with_libraries_imports_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("import os\nmark = os.environ['MARK']\n")
    with forking("library", folder=tmp_path, libraries=str(tmp_path), variables={"MARK": "seen"}) as server:
        assert server.run("import library\nprint(library.mark)", cwd=tmp_path).stdout == "seen\n"
        refused = server.run("import engine", cwd=tmp_path)
    assert refused.stderr.endswith("ModuleNotFoundError: No module named 'engine'\n")
