"""HTTP itself: conditional requests, preferences, idempotency, forms, long polls."""
