"""A stored body hashes to what was written, although jsonb keeps numbers as decimals."""

import json
from typing import Any

import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from store.core.hashes import json_hash

NUMBERS = st.floats(-1e15, 1e15) | st.integers(-(2**52), 2**52)
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8)
BODIES = st.dictionaries(TEXTS, NUMBERS | TEXTS | st.lists(NUMBERS, max_size=3), max_size=4)


@example(body={"similarity": -0.0, "hours": 24.0, "small": 1e-9})
@given(body=BODIES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_body_hashes_to_the_same_after_it_was_stored(
    engine: sa.Engine, body: dict[str, Any]
) -> None:
    with engine.connect() as connection:
        stored = connection.execute(
            sa.text("SELECT CAST(:body AS jsonb)"), {"body": json.dumps(body)}
        ).scalar_one()
    assert json_hash(stored) == json_hash(body)
