"""Answers for other programs and other people: the HTTP API, who may use it, and how much.

    request ─▶ gate (who is it?) ─▶ forms ─▶ counter (limits, line) ─▶ Event ─▶ completions, told

The pure parts know nothing of HTTP; `answering` is the only one in which things are awaited.
"""
