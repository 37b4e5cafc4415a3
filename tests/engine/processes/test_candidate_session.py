"""One candidate's own worker: there once the candidate is loaded in it, and not before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import ChildDiedError
from engine.model import Candidate, Limits
from engine.processes.candidate_session import CandidateSession, LoadError, LoadRequest

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


async def test_worker_that_failed_to_load_is_not_called(employ: Employ) -> None:
    _, process_pool = employ(
        lambda kind, command: protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="no")
    )
    candidate = Candidate(source=b"", problem="toy::twice")
    session = CandidateSession(
        LoadRequest(candidate=candidate, entry="f"), spare=process_pool.worker, limits=Limits(), on_log=lambda *_: None
    )
    with pytest.raises(LoadError):
        await session.load()
    assert not session.occupied
    await session.clear()


async def test_worker_gets_entry_folder_and_cache_path(employ: Employ, tmp_path: Path) -> None:
    asked: list[tuple[protocol.Load, bytes]] = []

    def load(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.Load)
        asked.append((command, Path(command.path).read_bytes()))
        return protocol.Loaded(id=command.id, siblings=("/s.py",))

    _, process_pool = employ(load)
    candidate = Candidate(source=b"x = 1", problem="toy::twice", filename="../mine.py", folder=tmp_path)
    session = CandidateSession(
        LoadRequest(candidate=candidate, entry="f", cache_folders=(Path("/launchers"), Path("/kernels"))),
        spare=process_pool.worker,
        limits=Limits(),
        on_log=lambda *_: None,
    )
    loaded = await session.load()
    [(command, source)] = asked
    assert (command.entry, command.folder, command.cache_folders) == ("f", str(tmp_path), ("/launchers", "/kernels"))
    assert (Path(command.path).name, source) == ("mine.py", b"x = 1")
    assert isinstance(loaded, protocol.Loaded)
    assert (session.occupied, loaded.siblings) == (True, ("/s.py",))
    await session.clear()


async def test_worker_gets_modules_of_suite_in_their_folder(employ: Employ) -> None:
    asked: list[tuple[Path, str]] = []

    def load(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.Load)
        assert command.modules is not None
        asked.extend((file, file.read_text()) for file in Path(command.modules).iterdir())
        return protocol.Loaded(id=command.id)

    _, process_pool = employ(load)
    candidate = Candidate(source=b"", problem="toy::twice", modules=(("../task.py", "é = 1"),))
    session = CandidateSession(
        LoadRequest(candidate=candidate, entry="f"), spare=process_pool.worker, limits=Limits(), on_log=lambda *_: None
    )
    await session.load()
    [(file, text)] = asked
    assert (file.name, file.parent.name, text) == ("task.py", "modules", "é = 1")
    await session.clear()


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ('a"b\\c.py', "a_b_c.py"),
        ("soft max.py", "soft max.py"),
        ("漢é🚀.py", "___.py"),
        ("a\nb.py", "a_b.py"),
        ("", "kernel.py"),
    ],
)
async def test_the_snapshot_has_a_name_that_assemblers_take(employ: Employ, filename: str, name: str) -> None:
    paths: list[str] = []

    def load(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.Load)
        paths.append(command.path)
        return protocol.Loaded(id=command.id)

    _, process_pool = employ(load)
    candidate = Candidate(source=b"", problem="toy::twice", filename=filename)
    session = CandidateSession(
        LoadRequest(candidate=candidate, entry="f"), spare=process_pool.worker, limits=Limits(), on_log=lambda *_: None
    )
    await session.load()
    assert [Path(path).name for path in paths] == [name]
    await session.clear()


async def test_session_is_cleared_after_death_while_loading(employ: Employ) -> None:
    fake, process_pool = employ(lambda kind, command: fake.die(fake.youngest))
    candidate = Candidate(source=b"", problem="toy::twice")
    session = CandidateSession(
        LoadRequest(candidate=candidate, entry="f"), spare=process_pool.worker, limits=Limits(), on_log=lambda *_: None
    )
    with pytest.raises(ChildDiedError):
        await session.load()
    await session.clear()
    await session.clear()
    assert not session.occupied
    with pytest.raises(ChildDiedError, match=r"^the candidate has no worker$"):
        await session.ask(protocol.Release(id="i"), deadline_s=1.0)


async def test_dismissed_worker_has_exited_after_clearing(
    employ: Employ,
) -> None:
    _, process_pool = employ(lambda kind, command: protocol.Loaded(id=command.id))
    candidate = Candidate(source=b"", problem="toy::twice")
    session = CandidateSession(
        LoadRequest(candidate=candidate, entry="f"), spare=process_pool.worker, limits=Limits(), on_log=lambda *_: None
    )
    await session.load()
    workspace = session.shared
    session.begin_clear()
    assert (session.occupied, workspace.exists()) == (False, True)
    clearing = [asyncio.create_task(session.clear()) for _ in range(2)]
    await asyncio.gather(*clearing)
    assert not workspace.exists()


async def test_second_session_loads_candidate_with_own_output(employ: Employ) -> None:
    loaded: list[protocol.Load] = []

    def load(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.Load)
        loaded.append(command)
        return protocol.Loaded(id=command.id)

    _, process_pool = employ(load)
    reported: list[str] = []
    session = CandidateSession(
        LoadRequest(
            candidate=Candidate(source=b"x = 1", problem="toy::twice"), entry="f", cache_folders=(Path("/kernels"),)
        ),
        spare=process_pool.worker,
        limits=Limits(),
        on_log=lambda stream, text: reported.append(text),
    )
    other = session.another()
    await other.load()
    assert (session.occupied, other.occupied, other.digest) == (False, True, session.digest)
    assert (loaded[0].entry, loaded[0].cache_folders) == ("f", ("/kernels",))
    session.end_other(other)
    assert not other.occupied
    await session.clear()
    assert reported == []
