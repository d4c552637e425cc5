"""How the product bears disturbances that grow: a trace of what happens, and scores of the trace.

After "resilience" of embodied agents as abstract 1 of the first seed file has it: not whether a
run ends well, but how it recovers, how much its outcomes move, and what it still delivers.
"""
