"""Replays on a device: torch moves, and kernels run as binaries that others compiled from their TTIR.

Knows torch, and must never load a candidate; only replayers on a device import it.
"""
