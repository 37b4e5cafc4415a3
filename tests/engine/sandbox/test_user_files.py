"""Reading a user's path: bounded, without waiting, and regular files only."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.sandbox.user_files import (
    MissingFileError,
    NoFileError,
    TooLargeError,
    UserFileError,
    read_user_file,
)


def refused(path: Path, kind: type[UserFileError], *, max_bytes: int = 10) -> str:
    with pytest.raises(UserFileError) as caught:
        read_user_file(path, max_bytes=max_bytes)
    assert type(caught.value) is kind
    return str(caught.value)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("file")
    assert read_user_file(tmp_path / "link", max_bytes=10) == b"0123456789"


def test_one_byte_too_many_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(11))
    assert refused(tmp_path / "file", TooLargeError) == "it has 11 bytes, and at most 10 are read"


def test_system_file_without_size_is_bounded() -> None:
    said = refused(Path("/proc/self/maps"), TooLargeError)
    assert said == "it has more than 10 bytes, and at most 10 are read"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "it is a named pipe"),
        (_socket, "it is a socket"),
        (os.mkdir, "it is a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a device"),
    ],
)
def test_nonfile_is_named(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    make(tmp_path / "k")
    assert refused(tmp_path / "k", NoFileError) == words


def test_a_path_without_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refused(tmp_path / "none", MissingFileError) == "it does not exist"
    assert refused(tmp_path / "file" / "below", MissingFileError) == "it does not exist"


def test_unusable_path_gives_reason(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert refused(tmp_path / "loop", UserFileError) == "its symbolic links form a loop"
    assert refused(tmp_path / ("k" * 300), UserFileError) == "its name is too long for this file system"
    assert refused(tmp_path / "a\0b", UserFileError) == "its name contains a null character"
