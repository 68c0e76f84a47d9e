"""Options of questions and searches that restrict the documents."""

from typing import Annotated

import typer

AsOfOption = Annotated[
    str | None, typer.Option(help="only what was held on this day, such as 2026-01-31")
]
SourceTypesOption = Annotated[
    list[str] | None, typer.Option("--source-type", help="such as pubmed; repeat it for more")
]
DiseasesOption = Annotated[
    list[str] | None,
    typer.Option("--disease", help="a tag, such as colorectal_cancer; repeat it for more"),
]
DecisionsOption = Annotated[
    list[str] | None,
    typer.Option("--decision", help="a tag, such as surveillance; repeat it for more"),
]
SinceOption = Annotated[
    str | None, typer.Option(help="published on this day or later, such as 2020-01-31")
]
UntilOption = Annotated[str | None, typer.Option(help="published on this day or before")]
