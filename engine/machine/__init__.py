"""A machine for TTIR: parses the text that Triton's frontend makes of a launch, checks it and executes it with numpy.

TTIR is data: executing it runs no line of the candidate's Python.  Must not import torch, triton or any process code;
of the engine it imports `model` and `errors` only.
"""
