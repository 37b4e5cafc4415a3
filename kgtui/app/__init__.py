"""The Textual application: combines screens, engine, store and terminal; only the command line imports it."""
