"""Rules for every problem: tests apply them to the catalogue, and `kgtui problems check` to any file.

Runs the code of problems, so that the parent process never imports this room; it starts `python -m problems.rules`.
"""
