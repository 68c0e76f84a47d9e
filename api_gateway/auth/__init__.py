"""Who asks and what they may: keys, scopes, browser sessions, rates, refusals."""
