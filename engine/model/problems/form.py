"""The form of a candidate: how its entry is called."""

from __future__ import annotations

import enum

MODULE_ARGUMENTS = 4
"""Number of arguments after the inputs of a MODULE problem: constructor arguments, weights, seed, options."""


class CandidateForm(enum.StrEnum):
    """The form of a candidate's entry, and its arguments.

    FUNCTION: a function of the arguments of the signature.  MODULE: a class of torch.nn.Module, constructed from the
    initial arguments, given the reference's parameters and buffers by name, then called.  SUBMISSION: a function of one
    argument, the whole input.  DESTINATION: a function whose last arguments are outputs that it fills.  CALL: a
    function called like a test of its suite: with a tuple of positional arguments, and pairs of name and value; a third
    argument of the problem has those of their tensors that are written in place.
    """

    FUNCTION = "function"
    MODULE = "module"
    SUBMISSION = "submission"
    DESTINATION = "destination"
    CALL = "call"
