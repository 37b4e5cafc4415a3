"""Replays on a device: torch moves, and kernels run that this process compiles from their TTIR itself.

Knows torch and Triton, and must never load a candidate; only replayers on a device import it.
"""
