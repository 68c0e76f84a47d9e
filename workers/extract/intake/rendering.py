"""Draws one page of a PDF, in a process of its own: a hostile file can kill or stall only that.

    python -m workers.extract.intake.rendering PAGE DOTS_PER_INCH MOST_PIXELS < FILE > PICTURE

Writes the page as a gray picture in the PGM format (`P5`). The caller sets the time limit.
"""

import resource
import sys

MEMORY = 2 * 1024**3
"""Bytes of address space that drawing may take (ours); the largest page needs some 0.3 GB."""
POINTS_PER_INCH = 72.0


def main(page: int, dots: float, most: int) -> None:
    """Read the PDF on standard input and write its page to standard output."""
    # here, not above: the limit on memory is set before anything is loaded
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

    document = pdfium.PdfDocument(sys.stdin.buffer.read())
    drawn = document[page]
    width, height = drawn.get_size()
    scale = dots / POINTS_PER_INCH
    if width * height * scale * scale > most:
        scale = (most / (width * height)) ** 0.5
    picture = drawn.render(scale=scale, grayscale=True, may_draw_forms=False).to_pil().convert("L")
    sys.stdout.buffer.write(b"P5 %d %d 255\n" % picture.size)
    sys.stdout.buffer.write(picture.tobytes())


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
