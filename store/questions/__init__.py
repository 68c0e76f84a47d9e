"""Questions, what their stages make, and what an abstention asks for."""
