"""What stands on record of how claims were judged, and what the gate of today makes of it."""
