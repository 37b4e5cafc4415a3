"""What the screen knows, as frozen records and pure functions; nothing here draws or does anything."""
