"""Candidates in the forms in which suites keep them: answers, predictions, files named after tasks, Solution JSON.

Each becomes the name of a task and a source text; nothing is run, and what is no candidate becomes a complaint.
"""
