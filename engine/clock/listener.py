"""The driver's record of launches: CUPTI's callback interface, read through ctypes.

An activity identifies its kernel by name, and a name can be given to anything.  At the launch itself the driver gets
the function, which belongs to one module; both carry the same correlation number.  The listener is active only between
`start` and `stop`: a subscriber makes every call of the driver slower.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import Any

from engine.clock.cupti import CuptiError

_DRIVER_CALLS = 1  # CUPTI_CB_DOMAIN_DRIVER_API
_ENTERED = 0  # CUPTI_API_ENTER
_GRAPH_LAUNCH = b"cuGraphLaunch"
_CONFIGURED = b"cuLaunchKernelEx"
_LAUNCHES = (b"cuLaunchKernel", b"cuLaunchCooperativeKernel")


@dataclass(frozen=True, kw_only=True)
class DriverCall:
    """One call of the driver; `function` is the handle of a launch, None for every other call.

    `thread` made it.  `correlation` is that of its activities.
    """

    correlation: int
    thread: int
    name: str = ""
    function: int | None = None
    replays: bool = False


class _CallbackData(ctypes.Structure):
    """CUpti_CallbackData of cupti_callbacks.h."""

    _fields_ = (
        ("site", ctypes.c_uint32),
        ("call", ctypes.c_char_p),
        ("parameters", ctypes.c_void_p),
        ("returned", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("context", ctypes.c_void_p),
        ("context_number", ctypes.c_uint32),
        ("correlation_place", ctypes.c_void_p),
        ("correlation", ctypes.c_uint32),
    )


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(_CallbackData))


class Listener:
    """Records every call of the driver in this process, from any thread; one per process."""

    def __init__(self, library: Any) -> None:  # Any: a loaded library, whose functions have no types
        self._cupti = library
        self._subscriber = ctypes.c_void_p()
        self._callback = _CALLBACK(self._heard)  # kept for as long as the library may call it
        self._calls: list[DriverCall] = []

    def start(self) -> None:
        """Start recording.

        Raises:
            CuptiError: another subscriber is active, or the library refuses.
        """
        self._expect("cuptiSubscribe", ctypes.byref(self._subscriber), self._callback, None)
        self._expect("cuptiEnableDomain", ctypes.c_uint32(1), self._subscriber, ctypes.c_uint32(_DRIVER_CALLS))

    def stop(self) -> None:
        """Stop recording.

        Raises:
            CuptiError: the library refuses.
        """
        self._expect("cuptiUnsubscribe", self._subscriber)

    def take(self) -> tuple[DriverCall, ...]:
        """Everything recorded since the last call, in order."""
        calls, self._calls = self._calls, []
        return tuple(calls)

    def _heard(self, user: object, domain: int, number: int, place: Any) -> None:  # Any: a pointer of ctypes
        record = place.contents
        if record.site == _ENTERED:
            function = _function(record.call or b"", record.parameters)
            self._calls.append(
                DriverCall(
                    correlation=record.correlation,
                    thread=threading.get_ident(),
                    function=function,
                    name=(record.symbol or b"").decode(errors="replace") if function is not None else "",
                    replays=(record.call or b"").startswith(_GRAPH_LAUNCH),
                )
            )

    def _expect(self, name: str, *arguments: object) -> None:
        status = getattr(self._cupti, name)(*arguments)
        if status:
            raise CuptiError(f"{name} failed with {status}")


def _function(call: bytes, parameters: int | None) -> int | None:
    """The function of a launch; in cuLaunchKernelEx it comes after the configuration."""
    if parameters is None or not call.startswith(_LAUNCHES):
        return None
    place = 1 if call.startswith(_CONFIGURED) else 0
    handle = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))[place]
    return int(handle) if handle else None
