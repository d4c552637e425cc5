"""Asking the questions of a suite and keeping what happens, one line for each.

    Suite ─▶ plan ─▶ subject ─▶ Record ─▶ journal (samples.jsonl)

Nothing is scored here: `evals.scoring` works out every figure from the lines.
"""
