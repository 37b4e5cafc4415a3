"""Audits of tasks: wrong answers that a task accepts, found in the judge with its reference. Runs no task's code."""
