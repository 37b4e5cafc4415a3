"""Colours for code: lexers, an incremental way to drive them, and inks that follow the screen's theme."""
