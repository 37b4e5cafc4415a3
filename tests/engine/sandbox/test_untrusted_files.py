"""Files that a stranger may have replaced: only a regular file of a fitting size is read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted
from tests.descriptors import open_files


def refusal(path: Path, *, max_bytes: int = 10) -> str:
    with pytest.raises(UntrustedFileError) as refused:
        read_untrusted(path, max_bytes=max_bytes)
    return str(refused.value)


@pytest.mark.parametrize("content", [b"", b"0123456789"])
def test_file_up_to_limit_is_read_whole(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "outputs"
    path.write_bytes(content)
    assert read_untrusted(path, max_bytes=10) == content


def test_one_byte_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outputs"
    path.write_bytes(bytes(11))
    assert refusal(path) == "outputs is not a regular file of at most 10 bytes"


def test_file_claiming_size_without_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outputs"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert refusal(path, max_bytes=1 << 30) == f"outputs is not a regular file of at most {1 << 30} bytes"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "outputs") == "outputs cannot be read: No such file or directory"


def test_link_is_refused_even_to_valid_file(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"x")
    path = tmp_path / "outputs"
    path.symlink_to(tmp_path / "target")
    assert refusal(path) == "outputs cannot be read: Too many levels of symbolic links"


def test_pipe_without_writer_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "outputs"
    os.mkfifo(path)
    assert refusal(path) == "outputs is not a regular file of at most 10 bytes"


def test_endless_device_is_refused() -> None:
    assert refusal(Path("/dev/zero")) == "zero is not a regular file of at most 10 bytes"


def test_a_socket_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outputs"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        assert refusal(path) == "outputs cannot be read: No such device or address"


def test_file_growing_while_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "outputs"
    path.write_bytes(bytes(10))
    look = os.fstat

    def look_and_grow(handle: int) -> os.stat_result:
        status = look(handle)
        path.write_bytes(bytes(100))
        return status

    monkeypatch.setattr("engine.sandbox.untrusted_files.os.fstat", look_and_grow)
    assert refusal(path) == "outputs grew past 10 bytes while it was read"


def test_a_refusal_leaves_no_descriptor_open(tmp_path: Path) -> None:
    path = tmp_path / "outputs"
    os.mkfifo(path)
    before = open_files()
    for _ in range(20):
        refusal(path)
    assert not open_files() - before


def test_folder_instead_of_file_is_refused_without_leak(tmp_path: Path) -> None:
    before = open_files()
    for _ in range(3):
        with pytest.raises(UntrustedFileError):
            read_untrusted(tmp_path, max_bytes=1 << 20)
    assert not open_files() - before
