"""Texts of tasks with the user's changes: other sizes, intermediates returned before the result. Runs nothing."""
