"""What bibliographic values mean, whatever the format: names, years, identifiers, markup."""
