"""Requirements of a candidate that this installation lacks: a package, or a part of another version of Triton.

Also the next step for an argument of a kernel that has become a constant.
"""

from __future__ import annotations

import traceback
from types import ModuleType

import triton
import triton.language
from triton.compiler.errors import CompilationError

from engine.loading.loader import HIDDEN

_VERSION_BY_NAME = {
    "triton.language.advance": "3.6",
    "triton.language.aggregate_replace": "3.9",
    "triton.language.atomic_load": "3.9",
    "triton.language.atomic_poll": "3.9",
    "triton.language.atomic_store": "3.9",
    "triton.language.expect_zero": "3.9",
    "triton.language.squeeze": "3.9",
    "triton.language.unsqueeze": "3.9",
    "triton.language._experimental_descriptor_load": "3.3",
    "triton.language._experimental_descriptor_store": "3.3",
    "triton.language.libdevice": "2.1",
    "triton.language.make_block_ptr": "3.6",
    "triton.ops": "2.3",
    "triton.tools.experimental_descriptor": "3.3",
}
"""A version of Triton that has the name; other missing names are not attributed to the version."""
_REMOVED_IN = "triton/language/core.py"
"""Triton keeps the names of removed functions there, which raise NotImplementedError."""


def missing(error: BaseException) -> str:
    """The missing requirement and the next step, as a sentence; "" if the error has another cause."""
    name = _name(error)
    if version := _VERSION_BY_NAME.get(name):
        lacking = f"{name} is missing from Triton {triton.__version__}, which is installed here"
        return "; ".join((lacking, f"Triton {version} has it", *_remedy(error)))
    if isinstance(error, ModuleNotFoundError) and name and "." not in name and name not in HIDDEN:
        return (
            f"missing package {name}: not installed; install it in kgtui's environment, "
            "or put its file beside the candidate"
        )
    return ""


def of_constant(error: BaseException) -> str:
    """Next step for a method of a tensor on a number that Triton knows when it compiles; "" for another error."""
    met = _within_compilation(error)
    if met is error or not isinstance(met, AttributeError) or type(met.obj) not in (int, float, bool):
        return ""
    if met.name is None or not hasattr(triton.language.tensor, met.name):
        return ""
    remedy = "use tl.cast" if met.name == "to" else "make it a tensor by tl.cast"
    return f" (a constant here, as an argument is that equals 1: {remedy}, or name the argument in do_not_specialize)"


def _remedy(error: BaseException) -> tuple[str, ...]:
    """Triton's own words on a removed function, which say what to use instead."""
    met = _within_compilation(error)
    lines = str(met).strip().splitlines() if isinstance(met, NotImplementedError) else []
    return tuple(lines[:1])


def _within_compilation(error: BaseException) -> BaseException:
    """The error that Triton's front end met in a kernel, or the error itself."""
    met: BaseException | None = error.__context__ if isinstance(error, CompilationError) else None
    return error if met is None else met


def _name(error: BaseException) -> str:
    """The dotted name that was not found, by Python or by Triton's front end in a kernel."""
    error = _within_compilation(error)
    if isinstance(error, ModuleNotFoundError):
        return error.name or ""
    if isinstance(error, ImportError):  # `from a import b`: Python 3.12 names both
        part = getattr(error, "name_from", None)
        return f"{error.name}.{part}" if part else ""
    if isinstance(error, NotImplementedError):
        *_, raised = (None, *traceback.extract_tb(error.__traceback__))
        return f"triton.language.{raised.name}" if raised and raised.filename.endswith(_REMOVED_IN) else ""
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        return f"{error.obj.__name__}.{error.name}"
    return ""
