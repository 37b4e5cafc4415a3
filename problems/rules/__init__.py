"""Rules for every problem: tests apply them to the catalogue, and `kgtui problems check` to any file.

The rules run the code of problems, so the parent process must not import this package; it starts `python -m
problems.rules`.
"""
