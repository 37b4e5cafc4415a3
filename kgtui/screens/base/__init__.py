"""Parts that all screens share: base class, appearance, and the protocol of the application."""
