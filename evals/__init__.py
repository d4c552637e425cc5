"""Measuring the product through its own entry points. Nothing in `rag` imports this."""
