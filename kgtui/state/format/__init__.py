"""Numbers, glyphs and lines as text; used by all other packages of the state."""
