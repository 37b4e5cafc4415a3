"""Broken and honest kernels, launched as workers on the CPU launch them, and what became of each.

A scenario is a function that launches a kernel and returns what a test compares.  The driver replaces functions of
Triton for good, so all scenarios run in a process of their own: `python -m tests.engine.worker.scenarios` prints their
results as JSON.  With the argument "interpreter" Triton's interpreter runs every kernel, as where the machine cannot.
"""
