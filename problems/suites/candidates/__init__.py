"""Candidates in the formats of suites: answers, predictions, files named after tasks, Solution JSON.

Each becomes the name of a task and a source text; nothing is run, and any other content becomes a complaint.
"""
