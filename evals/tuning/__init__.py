"""Searching for a better prompt: a model proposes, questions that were kept back decide.

    template ─▶ trial on train questions ─▶ aggregate, median trace ─▶ proposal ─▶ trial
    better there? ─▶ trial on held-back questions ─▶ better there too? ─▶ kept

The model that proposes sees what happened over all questions and the one question in the middle,
not the worst: shown a failure, models rewrite everything for it and lose what worked ("salience
bias"; R2PO, which is among the seeds, found that behind three quarters of its regressions).
"""
