"""Audits of tasks: what a task cannot tell apart, found in the judge by runs of its reference.  Runs no task's code."""
