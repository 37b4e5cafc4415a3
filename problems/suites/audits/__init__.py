"""Audits of tasks: wrong answers that a task accepts, found in the judge by its reference.  Runs no task's code."""
