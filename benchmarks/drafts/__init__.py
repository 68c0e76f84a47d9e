"""A model that drafts well, written down beforehand, before the whole product."""
