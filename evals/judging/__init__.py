"""Judges of claims, and how good they are.

A judge is asked whether some passages support a claim. It is measured on labels given by people
before its figures are believed.
"""
