"""Fitting and measuring the guard against injections; see `rag.guarding`."""
