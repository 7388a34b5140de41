"""Results: settings, statements, and everything that puts certificates together."""
