"""What host code may ask a kernel about itself: that it is a JITFunction, its source, its parameters.

Where kernels are interpreted they are objects of another class, which has none of these.  Each is answered by the
JITFunction that the same function would be.  Patches Triton's interpreter in this process, for triton 3.6 to 3.9;
never used outside a worker.
"""

from __future__ import annotations

from typing import Any

from triton.runtime import interpreter as triton_interpreter
from triton.runtime.jit import JITFunction

# Triton's interpreter is not typed: what is taken from it or handed to it is Any throughout this file.

_OPTIONS = (
    "version",
    "do_not_specialize",
    "do_not_specialize_on_alignment",
    "debug",
    "noinline",
    "repr",
    "launch_metadata",
)
_ASKED = frozenset({
    "src", "raw_src", "signature", "params", "constexprs", "module", "starting_line_number", "cache_key", "file_name",
    "def_file_line_number", "used_global_vals", "parse", "arg_specialization", *_OPTIONS,
})  # fmt: skip
_COMPILED = "_kgtui_compiled_form"


def install() -> None:
    """Have kernels that are made from now on answer as compiled ones."""
    base = triton_interpreter.InterpretedFunction
    # `isinstance` asks the object for its class, too; a class can only be given the answer when it is made.
    answers = {
        "__class__": property(lambda _: JITFunction),
        "__getattr__": _attribute,
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    triton_interpreter.InterpretedFunction = type(base.__name__, (base,), answers)


def _attribute(kernel: Any, name: str) -> Any:
    """The attribute of the JITFunction that this kernel would be; no figure of compiled code is among them."""
    if name not in _ASKED:
        raise AttributeError(f"the interpreter's kernel {kernel.fn.__name__} has no attribute {name!r}", name=name)
    compiled = vars(kernel).get(_COMPILED)
    if compiled is None:
        options = {option: kernel.kwargs[option] for option in _OPTIONS if option in kernel.kwargs}
        compiled = vars(kernel)[_COMPILED] = JITFunction(kernel.fn, **options)
    return getattr(compiled, name)
