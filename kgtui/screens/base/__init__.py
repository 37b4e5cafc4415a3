"""What every screen shares: its base class, its appearance, and the protocol of the application."""
