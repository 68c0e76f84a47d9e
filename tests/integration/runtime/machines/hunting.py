"""How a machine is set on a sabotaged system: until it has seen it, the same way each time."""

from hypothesis import HealthCheck, Phase, settings


def hunting(examples: int, steps: int) -> settings:
    """Settings for a run that has to fail; `examples` of at most `steps` rules each."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        phases=[Phase.generate],  # found is enough
        deadline=None,
    )
