"""The form that a candidate has: how its entry is called."""

from __future__ import annotations

import enum

MODULE_ARGUMENTS = 4
"""How many arguments follow the inputs of a MODULE problem: what the class is made from, weights, seed, options."""


class CandidateForm(enum.StrEnum):
    """The form of a candidate's entry, and its arguments.

    FUNCTION: a function of the arguments of the signature.  MODULE: a class of torch.nn.Module, made from the initial
    arguments, given the reference's parameters and buffers by name, then called.  SUBMISSION: a function of one
    argument, the whole input.  DESTINATION: a function whose last arguments are outputs that it fills.  CALL: a
    function called as a test of its suite does: with a tuple of positional arguments, and pairs of name and value; a
    third argument of the problem has those of their tensors that are written in place.
    """

    FUNCTION = "function"
    MODULE = "module"
    SUBMISSION = "submission"
    DESTINATION = "destination"
    CALL = "call"
