"""`kgtui new`: makes a file, and never overwrites one."""

from __future__ import annotations

from engine.static.source import directives


def test_new_file_is_in_kernels_with_next_step(typed, folder):
    ended = typed("new", "silu")
    assert (ended.exit_code, ended.err) == (0, "")
    assert ended.out == (
        "created kernels/silu.py for aten::silu\nnext: kgtui open kernels/silu.py   or   kgtui check kernels/silu.py\n"
    )
    assert directives((folder / "kernels" / "silu.py").read_text()) == {"op": "aten::silu"}


def test_the_file_may_be_named(typed, folder):
    assert typed("new", "silu", "deep/mine.py").exit_code == 0
    assert (folder / "deep" / "mine.py").is_file()


def test_name_that_no_command_runs_is_refused(typed, folder):
    ended = typed("new", "silu", "silu.txt")
    assert (ended.exit_code, ended.err) == (2, "kgtui: FILE must be a Python file, such as silu.py; got silu.txt\n")
    assert list(folder.iterdir()) == []


def test_existing_file_is_unchanged(typed, folder):
    (folder / "silu.py").write_text("mine\n")
    ended = typed("new", "silu", "silu.py")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: silu.py exists and is not overwritten; name another FILE\n",
    )
    assert (folder / "silu.py").read_text() == "mine\n"


def test_new_below_a_file_is_refused(typed, folder):
    (folder / "kernels").write_text("a file\n")
    ended = typed("new", "silu")
    assert ended.exit_code == 2
    assert ended.err.startswith("kgtui: ")
    assert ended.err.endswith("name another FILE\n")
    assert (folder / "kernels").read_text() == "a file\n"


def test_a_folder_that_cannot_be_written(typed, public_folder, without_root):
    public_folder.chmod(0o555)
    typed("problems")  # everything that is imported late, while it can be read
    with without_root():
        ended = typed("new", "silu", public_folder / "silu.py")
    assert ended.exit_code == 2
    assert f"\nkgtui: {public_folder}/silu.py was not created: Permission denied" in f"\n{ended.err}"


def test_an_unknown_operator(typed, folder):
    ended = typed("new", "silou")
    assert ended.exit_code == 2
    assert "did you mean aten::silu" in ended.err
    assert list(folder.iterdir()) == []
