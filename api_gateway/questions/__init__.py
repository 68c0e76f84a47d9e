"""Questions and their answers: JSON routes, pages, schemas, views."""
