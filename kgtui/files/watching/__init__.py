"""Parts of the watcher: its records, its directory feed, and the state of one file."""
