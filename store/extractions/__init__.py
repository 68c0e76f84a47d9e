"""Clinical documents to extract: states, replies of models, reviews, figures."""
