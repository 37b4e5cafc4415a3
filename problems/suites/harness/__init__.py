"""Harnesses that run a suite's own code: one module for each contract, imported by the reference process only.

A module defines `open_task(file, details, device)` as engine/reference/harness.py says.  Imports torch; never imports
the judge or the worker.
"""
