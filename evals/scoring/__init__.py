"""Working out every figure from the records of a run; pure functions, no index and no model.

Record ─▶ statements ─▶ measures ─▶ Scored ─▶ summary with n and intervals
"""
