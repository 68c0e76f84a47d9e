"""Alembic's entry: runs the migrations on the connection that `store.core.database` hands over."""

from alembic import context
from sqlmodel import SQLModel

import store.models  # noqa: F401  (registers the tables)

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=SQLModel.metadata)
with context.begin_transaction():
    context.run_migrations()
