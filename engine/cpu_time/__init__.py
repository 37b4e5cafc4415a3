"""Deadlines in CPU time: the time that a process used of the machine, and when to stop waiting for it.

The parent uses it for its children, the judge for the reference process.  Imports no process code.
"""
