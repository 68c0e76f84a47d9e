"""A tool call that is made again sends the key of the first one, for as long as it can be it."""

from cli.assistant.retries import MOST, RETRIED_SECONDS, Retries


def test_the_same_call_of_the_same_caller_has_the_same_key_for_a_while() -> None:
    at = 1000.0
    retries = Retries(lambda: at)
    first = retries.key_of("/v1/questions", {"question": "Why?"}, "Bearer a")
    assert retries.key_of("/v1/questions", {"question": "Why?"}, "Bearer a") == first
    at += RETRIED_SECONDS - 1
    assert retries.key_of("/v1/questions", {"question": "Why?"}, "Bearer a") == first
    at += RETRIED_SECONDS - 1  # since the last try, not since the first
    assert retries.key_of("/v1/questions", {"question": "Why?"}, "Bearer a") == first
    at += RETRIED_SECONDS
    assert retries.key_of("/v1/questions", {"question": "Why?"}, "Bearer a") != first


def test_other_words_another_caller_and_another_tool_have_another_key() -> None:
    retries = Retries(lambda: 0.0)
    calls = [
        ("/v1/questions", {"question": "Why?"}, "Bearer a"),
        ("/v1/questions", {"question": "How?"}, "Bearer a"),
        ("/v1/questions", {"question": "Why?"}, "Bearer b"),
        ("/v1/questions", {"question": "Why?"}, None),
        ("/v1/verifications", {"question": "Why?"}, "Bearer a"),
    ]
    assert len({retries.key_of(*one) for one in calls}) == len(calls)


def test_it_keeps_no_words_and_only_so_many_calls() -> None:
    retries = Retries(lambda: 0.0)
    first = retries.key_of("/v1/questions", {"question": "Mrs Doe?"}, "Bearer hush")
    kept = repr(vars(retries))
    assert "Doe" not in kept
    assert "hush" not in kept
    for n in range(MOST):
        retries.key_of("/v1/questions", {"question": str(n)}, None)
    assert retries.key_of("/v1/questions", {"question": "Mrs Doe?"}, "Bearer hush") != first
