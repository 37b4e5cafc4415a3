"""Numbers, glyphs and lines as text; every other room of the state uses these."""
