"""From evidence to a checked, cited answer."""
