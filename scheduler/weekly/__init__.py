"""The weekly report: a week's figures as Markdown and as one page of HTML."""
