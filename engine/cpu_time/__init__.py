"""Deadlines by processor time: what a process used of the machine, and how long it is waited for.

The parent uses it for its children, the judge for the reference process.  Imports no process code.
"""
