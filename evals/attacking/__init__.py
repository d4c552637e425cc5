"""Attacks by planted abstracts: who plants what, a model that obeys, and what comes of it."""
