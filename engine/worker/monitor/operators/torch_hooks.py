"""Audit events on the ways around the ledger of operators.

A candidate can turn the modes of torch off, work in another thread, or take content out of torch and compute with it
elsewhere.  These hooks are installed before it is loaded; uses by torch itself raise no event.  A candidate that knows
of them can avoid them too, so that the absence of events proves nothing.
"""

from __future__ import annotations

import _thread
import functools
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any

import torch
import torch.library
import torch.overrides
import torch.utils._python_dispatch
import torch.utils.dlpack

# Functions of torch and of candidates, with any arguments and results: Any throughout this file.

HOOK_EVENT = "kgtui.torch_hook"
"""The audit event of a hooked function that was called; its argument is the function's name."""

_BYPASSES: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("torch._C", torch._C, (
        "_DisableTorchDispatch", "_ExcludeDispatchKeyGuard", "_SetExcludeDispatchKeyGuard", "_ForceDispatchKeyGuard",
        "ExcludeDispatchKeyGuard", "_AutoDispatchBelowADInplaceOrView", "_dispatch_tls_set_dispatch_key_excluded",
        "_dispatch_tls_set_dispatch_key_included", "_pop_torch_dispatch_stack", "_set_dispatch_mode",
        "_unset_dispatch_mode", "DisableTorchFunction", "_pop_torch_function_stack", "_to_dlpack",
        "_to_dlpack_versioned", "_dispatch_library", "_len_torch_dispatch_stack", "_get_dispatch_stack_at",
        "_get_dispatch_mode", "_len_torch_function_stack", "_get_function_stack_at",
    )),
    ("torch.utils.dlpack", torch.utils.dlpack, ("to_dlpack",)),
    ("torch.utils._python_dispatch", torch.utils._python_dispatch, (
        "_disable_current_modes", "_pop_mode", "_pop_mode_temporarily", "_get_current_dispatch_mode",
        "_get_current_dispatch_mode_stack", "is_in_torch_dispatch_mode", "_len_torch_dispatch_stack",
        "_get_dispatch_stack_at",
    )),
    ("torch.overrides", torch.overrides, (
        "_pop_mode", "_pop_mode_temporarily", "_get_current_function_mode", "_get_current_function_mode_stack",
        "_len_torch_function_stack", "_get_function_stack_at",
    )),
    ("torch._ops.OpOverload", torch._ops.OpOverload, ("redispatch",)),
)  # fmt: skip


def install_hooks() -> None:
    """Have each hooked function raise an audit event when it is called; permanent, and only once in a process."""
    for place, owner, names in _BYPASSES:
        for name in names:
            function = getattr(owner, name, None)
            if function is not None:
                setattr(owner, name, _with_audit_event(function, f"{place}.{name}"))


def follow_threads(noting: Callable[[], AbstractContextManager[object]]) -> None:
    """Run every thread that is started from now on in a context made by `noting`; permanent."""
    started = _thread.start_new_thread

    def start_new_thread(
        function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
    ) -> int:
        def run() -> None:
            with noting():
                function(*args, **(kwargs or {}))

        return started(run, ())

    _thread.start_new_thread = _thread.start_new = threading._start_new_thread = start_new_thread  # type: ignore[attr-defined]
    start_joinable = getattr(_thread, "start_joinable_thread", None)  # what `threading` calls from Python 3.13 on
    if start_joinable is None:
        return

    def start_joinable_thread(function: Callable[[], object], handle: object = None, daemon: bool = True) -> object:
        def run() -> None:
            with noting():
                function()

        return start_joinable(run, handle=handle, daemon=daemon)

    _thread.start_joinable_thread = threading._start_joinable_thread = start_joinable_thread  # type: ignore[attr-defined]


def follow_operators(follow: Callable[[str], None], noting: Callable[[], AbstractContextManager[object]]) -> None:
    """Run Python implementations of operators registered from now on in a context made by `noting`; permanent.

    `follow` gets the operator.  Torch's own operators are not changed by a registration; the operators within that
    implementation are recorded as well.
    """
    registered: Callable[..., Any] = torch.library.Library.impl
    known = frozenset(name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names())

    @functools.wraps(registered)
    def impl(library: Any, op_name: Any, fn: Any, *args: Any, **kwargs: Any) -> Any:
        namespace, _, name = str(getattr(op_name, "_name", op_name)).rpartition("::")
        namespace = namespace or library.ns
        if namespace == "aten" or f"{namespace}::{name.partition('.')[0]}" in known:
            fn = fn if _is_torchs(fn) else _noted(fn, noting)
        elif isinstance(fn, FunctionType) and fn is not torch.library.fallthrough_kernel:
            follow(f"{namespace}::{name.partition('.')[0]}")
            fn = _noted(fn, noting)
        return registered(library, op_name, fn, *args, **kwargs)

    torch.library.Library.impl = impl  # type: ignore[assignment, method-assign]


def _is_torchs(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] == "torch"


def _noted(function: Callable[..., Any], noting: Callable[[], AbstractContextManager[object]]) -> Callable[..., Any]:
    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        with noting():
            return function(*args, **kwargs)

    return noted


def _with_audit_event(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function, updated=())
    def audited(*args: Any, **kwargs: Any) -> Any:
        sys.audit(HOOK_EVENT, name)
        return function(*args, **kwargs)

    return audited
