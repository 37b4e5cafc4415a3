"""Replays on a device: torch moves, and kernels run as binaries compiled elsewhere from their TTIR.

Imports torch, and must never load a candidate; only replayers on a device import it.
"""
