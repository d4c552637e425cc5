"""Drafting questions from a collection with a model, and having a person accept them.

papers ─▶ model ─▶ Draft ─▶ checks by code ─▶ review file ─▶ person ─▶ suite
"""
