"""The weekly report: what a week's figures look like as Markdown and as one page of HTML."""
