"""Answers of before: checked against the index of now, and made again."""
