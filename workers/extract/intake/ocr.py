"""Words from pictures: Tesseract, where it is installed, under limits of pages, pixels and time.

Pictures are read by Pillow without drawing them first, so that a picture that says it is huge is
refused before it takes memory; PDF pages are drawn in a process of their own (`rendering`).
"""

import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import NamedTuple

import pytesseract  # type: ignore[import-untyped]
from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError
from PIL.Image import Image as Picture

from workers.extract.intake.refusals import IntakeRefused

MOST_PAGES = 60
"""Scanned pages of one document (ours); at some 2 s a page that is two minutes."""
MOST_PIXELS = 40_000_000
"""Of one page (ours): A4 at 500 dots per inch has 24 million."""
DOTS_PER_INCH = 300.0
"""What Tesseract's manual asks for."""
PAGE_SECONDS = 45.0
TOTAL_SECONDS = 240.0
SMALL_WIDTH = 1_000
"""Pixels below which a page is enlarged first: its letters have less than some 15 pixels (ours)."""
SURE = 0.6
"""Confidence below which a page is tried the other ways up (ours)."""
FORMATS = ("PNG", "JPEG", "TIFF")
LANGUAGE = "eng"
HOW_TO = (
    "install Tesseract (Debian: apt-get install tesseract-ocr) or give a file with a text layer"
)


class Read(NamedTuple):
    """The words of pages, and how sure Tesseract is of them, 0-1."""

    text: str
    confidence: float


def available() -> bool:
    """Whether the Tesseract program is there."""
    return shutil.which(pytesseract.pytesseract.tesseract_cmd) is not None


class Scanner:
    """Reads the pages of one document within one time limit.

    Raises:
        IntakeRefused: Tesseract is not there.
    """

    def __init__(self, seconds: float = TOTAL_SECONDS) -> None:
        """The clock starts here."""
        if not available():
            raise IntakeRefused(f"the document is a scan, and no program here reads it; {HOW_TO}")
        self._deadline = time.monotonic() + seconds

    def picture(self, data: bytes) -> tuple[Read, int]:
        """The words of a picture file, all its frames, and how many there are.

        Raises:
            IntakeRefused: it is no such picture, too large, too long, or takes too long.
        """
        return self._joined([self._page(one) for one in frames(data)])

    def pdf_page(self, data: bytes, page: int) -> Read:
        """The words of one page of a PDF, counted from 0.

        Raises:
            IntakeRefused: it cannot be drawn or takes too long.
        """
        return self._page(_drawn(data, page, self._left()))

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise IntakeRefused("reading the scan took too long; split it")
        return min(left, PAGE_SECONDS)

    def _joined(self, pages: Sequence[Read]) -> tuple[Read, int]:
        return joined(pages), len(pages)

    def _page(self, picture: Picture) -> Read:
        gray = ImageOps.autocontrast(picture.convert("L"))
        if gray.width < SMALL_WIDTH:
            factor = min(3, -(-SMALL_WIDTH // gray.width))
            gray = gray.resize((gray.width * factor, gray.height * factor))
        best = self._words(gray)
        if best.confidence < SURE and best.text:
            for turn in (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180,
                         Image.Transpose.ROTATE_270):  # fmt: skip
                other = self._words(gray.transpose(turn))
                best = max(best, other, key=lambda one: one.confidence)
        return best

    def _words(self, picture: Picture) -> Read:
        try:
            found = pytesseract.image_to_data(
                picture,
                lang=LANGUAGE,
                config="--psm 3",
                timeout=self._left(),
                output_type=pytesseract.Output.DICT,
            )
        except RuntimeError as error:
            # its message can hold words of the page: it goes nowhere
            raise IntakeRefused("the scan cannot be read, or takes too long; split it") from error
        return _lines(found)


def joined(pages: Sequence[Read]) -> Read:
    """Pages parted by a blank line; the confidence is that of the page that is worst."""
    kept = [one for one in pages if one.text.strip()]
    text = "\n\n".join(one.text for one in kept)
    return Read(text, min((one.confidence for one in kept), default=0.0))


def _lines(found: dict[str, list[object]]) -> Read:
    """Tesseract's words in lines and paragraphs; confidence weighed by length."""
    lines: dict[tuple[int, ...], list[str]] = {}
    weight = total = 0.0
    for index, word in enumerate(found["text"]):
        words, sure = str(word).strip(), float(str(found["conf"][index]))
        if not words or sure < 0:
            continue
        key = tuple(int(str(found[one][index])) for one in ("block_num", "par_num", "line_num"))
        lines.setdefault(key, []).append(words)
        weight += len(words)
        total += len(words) * sure / 100.0
    out: list[str] = []
    before: tuple[int, ...] | None = None
    for key, every in lines.items():
        if before is not None:
            out.append("\n" if key[:2] == before[:2] else "\n\n")
        out.append(" ".join(every))
        before = key
    return Read("".join(out), round(total / weight, 3) if weight else 0.0)


def frames(data: bytes) -> Iterator[Picture]:
    """The frames of a PNG, JPEG or TIFF, the way up that its camera says.

    Raises:
        IntakeRefused: it is no such picture, or has too many pixels or frames.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(BytesIO(data), formats=FORMATS)
            for number, frame in enumerate(ImageSequence.Iterator(picture)):
                _check(number, frame)
                turned = ImageOps.exif_transpose(frame)
                yield turned.copy()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large() from error
    except IntakeRefused:
        raise
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, MemoryError) as error:
        raise IntakeRefused("the picture cannot be read; save it anew as PNG") from error


def _check(number: int, frame: Picture) -> None:
    if number >= MOST_PAGES:
        raise IntakeRefused(f"the picture has more than {MOST_PAGES} pages; split it")
    if frame.width * frame.height > MOST_PIXELS:
        raise _too_large()


def _too_large() -> IntakeRefused:
    return IntakeRefused(
        f"the picture has more than {MOST_PIXELS:,} pixels; scan it at {DOTS_PER_INCH:.0f} dpi"
    )


def _drawn(data: bytes, page: int, seconds: float) -> Picture:
    """A page of a PDF as a picture, drawn by another process."""
    command = [sys.executable, "-m", "workers.extract.intake.rendering",
               str(page), str(DOTS_PER_INCH), str(MOST_PIXELS)]  # fmt: skip
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(one for one in sys.path if one)
    try:
        done = subprocess.run(  # noqa: S603 - our own module, no word of the document among them
            command,
            input=data,
            capture_output=True,
            timeout=seconds,
            check=True,
            env=environment,
        )
        picture = Image.open(BytesIO(done.stdout), formats=("PPM",))
        picture.load()
    except subprocess.TimeoutExpired as error:
        raise IntakeRefused("reading the scan took too long; split it") from error
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        raise IntakeRefused(f"page {page + 1} of the PDF cannot be drawn; save it anew") from error
    return picture
