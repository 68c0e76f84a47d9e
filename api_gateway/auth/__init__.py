"""Authentication and authorization: keys, scopes, browser sessions, rates, refusals."""
