"""Colours for code: lexers, an incremental lexer, and styles ("inks") that follow the screen's theme."""
