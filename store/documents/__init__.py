"""Documents, their immutable versions, and what is known of each work."""
