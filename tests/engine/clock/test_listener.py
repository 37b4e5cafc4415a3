"""Calls of the driver, told by a library that is scripted and laid out as cupti_callbacks.h says."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest

from engine.clock.cupti import CuptiError
from engine.clock.listener import DriverCall, Listener, _CallbackData

ENTER, EXIT = 0, 1


class Library:
    """CUPTI as far as callbacks need it; `status` is what each function returns."""

    def __init__(self, status: dict[str, int] | None = None) -> None:
        self._status = status or {}
        self.done: list[str] = []
        self.callback: Any = None

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            self.done.append(name)
            if name == "cuptiSubscribe":
                self.callback = arguments[1]
            return self._status.get(name, 0)

        return call

    def tell(
        self, call: bytes, *words: int, site: int = ENTER, symbol: bytes | None = None, correlation: int = 7
    ) -> None:
        """The driver is called with these words as the parameters."""
        parameters = (ctypes.c_void_p * max(1, len(words)))(*words)
        reported = _CallbackData(
            site=site,
            call=call,
            parameters=ctypes.cast(parameters, ctypes.c_void_p),
            symbol=symbol,
            correlation=correlation,
        )
        self.callback(None, 1, 0, ctypes.pointer(reported))


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture
def listener(library: Library) -> Listener:
    listener = Listener(library)
    listener.start()
    return listener


def test_a_launch_is_reported_with_its_function(library: Library, listener: Listener) -> None:
    library.tell(b"cuLaunchKernel", 111, 5, symbol=b"k")
    assert listener.take() == (DriverCall(correlation=7, thread=threading.get_ident(), name="k", function=111),)


@pytest.mark.parametrize("call", [b"cuLaunchKernelEx", b"cuLaunchKernelEx_ptsz"])
def test_configured_launch_has_function_second(library: Library, listener: Listener, call: bytes) -> None:
    library.tell(call, 111, 222, symbol=b"k")
    assert [one.function for one in listener.take()] == [222]


def test_a_replayed_graph_has_no_function(library: Library, listener: Listener) -> None:
    library.tell(b"cuGraphLaunch", 5)
    assert [(one.function, one.name, one.replays) for one in listener.take()] == [(None, "", True)]


def test_other_calls_are_reported_by_their_number_alone(library: Library, listener: Listener) -> None:
    library.tell(b"cuMemcpyDtoDAsync_v2", 5, correlation=9)
    assert [(one.correlation, one.function) for one in listener.take()] == [(9, None)]


def test_call_is_reported_once_without_its_return(library: Library, listener: Listener) -> None:
    library.tell(b"cuLaunchKernel", 111, symbol=b"k")
    library.tell(b"cuLaunchKernel", 111, symbol=b"k", site=EXIT)
    assert (len(listener.take()), listener.take()) == (1, ())


def test_listener_is_silent_before_start_and_after_stop(library: Library) -> None:
    listener = Listener(library)
    assert library.done == []
    listener.start()
    listener.stop()
    assert library.done == ["cuptiSubscribe", "cuptiEnableDomain", "cuptiUnsubscribe"]


@pytest.mark.parametrize("refuses", ["cuptiSubscribe", "cuptiEnableDomain"])
def test_refusing_library_is_error_with_its_call(refuses: str) -> None:
    with pytest.raises(CuptiError, match=f"{refuses} failed with 39"):
        Listener(Library({refuses: 39})).start()
