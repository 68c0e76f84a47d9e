"""State machines over the real code and a real PostgreSQL, each beside a model in plain Python."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.promises", f"{__name__}.chain")
