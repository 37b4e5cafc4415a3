"""`kgtui open`: which file is opened, and what is refused before the screen is touched."""

from __future__ import annotations

import dataclasses

import pytest

from engine.errors import UsageError
from kgtui.app.start import Start
from kgtui.cli.choices import SAMPLE
from kgtui.cli.command_line import parse
from kgtui.cli.commands.open import opened_file, run
from kgtui.cli.resolved_settings import load_quietly
from problems.index import open_index


@pytest.fixture
def opened(console):
    """What a command line opens."""

    def run(*arguments: object) -> Start | None:
        options = parse(list(map(str, arguments))).options
        return opened_file(options, console, kernels=console.folder / "kernels", index=open_index())

    return run


@pytest.mark.parametrize("arguments", [[], ["open"], ["open", "--op", "aten::softmax"], ["open", "--sample"]])
def test_without_a_terminal_one_sentence_names_the_check(typed, folder, arguments):
    ended = typed(*arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err == (
        "kgtui: the workbench needs a terminal; `kgtui check FILE --op OP` verifies a file without one\n"
    )
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("missing", ["stdin", "out", "err"])
def test_every_stream_must_be_a_terminal(console, terminal, missing):
    streams = {name: terminal() for name in ("stdin", "out", "err")}
    whole = dataclasses.replace(console, **streams)
    assert whole.has_terminal
    assert not dataclasses.replace(whole, **{missing: getattr(console, missing)}).has_terminal


def test_unsuitable_terminal_is_refused(console, terminal):
    streams = {name: terminal() for name in ("stdin", "out", "err")}
    dumb = dataclasses.replace(console, **streams, environment={**console.environment, "TERM": "dumb"})
    with pytest.raises(UsageError, match="TERM=dumb does not provide; `kgtui check FILE --op OP`"):
        run(parse(["open"]).options, dumb)


@pytest.mark.parametrize(
    ("arguments", "term", "ascii"),
    [(["open"], "xterm", False), (["open", "--ascii"], "xterm", True), (["open"], "linux", True), ([], "linux", True)],
)
def test_the_linux_console_is_drawn_in_ascii(console, arguments, term, ascii):
    there = dataclasses.replace(console, environment={"TERM": term})
    assert load_quietly(parse(arguments).options, there).is_ascii is ascii


def test_the_mouse_can_be_left_to_the_terminal():
    assert [parse(words).options.mouse for words in ([], ["open"], ["open", "--no-mouse"])] == [True, True, False]


def test_open_without_file_shows_operators(opened):
    assert opened() is None
    assert opened("open", "--ascii") is None


def test_file_states_its_operator(opened, kernel):
    assert opened("open", "silu.py") == Start(problem=opened("open", "silu.py").problem, path=kernel)
    assert opened("open", "silu.py").problem.name == "aten::silu"


def test_an_operator_with_a_file(opened, kernel):
    assert opened("open", "silu.py", "--op", "vllm::rms_norm").problem.name == "vllm::rms_norm"


def test_open_operator_uses_file_in_kernels(opened, folder):
    (folder / "kernels").mkdir()
    (folder / "kernels" / "silu.py").write_text("def silu(self): ...\n")
    assert opened("open", "--op", "silu").path == folder / "kernels" / "silu.py"


def test_operator_without_file_names_creating_command(opened):
    with pytest.raises(UsageError, match=r"there is no kernels/silu.py; `kgtui new aten::silu` creates it, or name"):
        opened("open", "--op", "silu")


@pytest.mark.parametrize(
    "arguments", [["silu.py"], ["--ascii", "silu.py"], ["silu.py", "--op", "silu"], ["./silu.py"], ["open", "silu.py"]]
)
def test_a_file_alone_is_opened(opened, kernel, arguments):
    assert opened(*arguments).path == kernel


def test_file_named_like_command_is_opened_by_path(opened, kernel):
    kernel.rename(kernel.with_name("check"))
    assert opened("./check").path == kernel.with_name("check")


def test_a_file_without_a_suffix_is_opened(console, kernel):
    kernel.rename(kernel.with_name("silu-2"))
    options = parse(["silu-2"], folder=console.folder).options
    assert opened_file(options, console, kernels=console.folder, index=open_index()).path == kernel.with_name("silu-2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["silu"], "there is no file silu; `kgtui open --op silu` opens the kernel file of the operator"),
        (["aten::mm"], "there is no file aten::mm; `kgtui open --op aten::mm` opens the kernel file of the operator"),
        (["silu", "silu.py"], "OP is an option: `kgtui open silu.py --op silu`"),
        (["aten::silu", "my silu.py", "--ascii"], "OP is an option: `kgtui open 'my silu.py' --op aten::silu`"),
    ],
)
def test_operator_without_option_is_refused_naming_option(opened, kernel, arguments, message):
    with pytest.raises(UsageError) as refused:
        opened("open", *arguments)
    assert str(refused.value) == message


def test_a_missing_file(opened):
    with pytest.raises(UsageError, match=r"none.py does not exist; create it with `kgtui new`"):
        opened("open", "none.py", "--op", "silu")


def test_the_sample_is_copied_once_and_never_overwritten(opened, folder):
    path = folder / "kernels" / "softmax.py"
    assert opened("open", "--sample").path == path
    assert path.read_bytes() == SAMPLE.read_bytes()
    path.write_text("# mine\n")
    assert opened("open", "--sample").path == path
    assert path.read_text() == "# mine\n"


def test_sample_of_other_operator_is_refused(opened):
    with pytest.raises(UsageError, match="there is no sample for aten::silu, only for aten::softmax"):
        opened("open", "--op", "silu", "--sample")


def test_sample_folder_that_cannot_be_made_is_reported(opened, folder):
    (folder / "kernels").write_text("a file\n")
    refusal = r"^kernels/softmax.py was not created: .*/kernels is not a folder; start in another folder$"
    with pytest.raises(UsageError, match=refusal):
        opened("open", "--sample")
