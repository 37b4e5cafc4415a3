"""The Textual application: screens, engine, store and terminal put together; only the command line imports it."""
