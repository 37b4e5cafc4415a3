"""Texts of tasks changed as the user chose: other sizes, intermediates returned before the result.  Runs nothing."""
