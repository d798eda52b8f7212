"""A section of a page: what it is called, what it is about, and what it shows."""

from __future__ import annotations

from dataclasses import dataclass

from pacboost.reports.page.markup import Child, Markup, tag


@dataclass(frozen=True)
class Section:
    """A part with a heading; ``lead`` says in two sentences how to read it."""

    name: str
    """For links: a single word."""
    title: str
    lead: Child
    body: Markup

    def markup(self, number: int) -> Markup:
        """Write the section; headings stand beside their content where there is room."""
        head = tag(
            "header",
            tag("p", f"{number:02}", class_="count", aria_hidden="true"),
            tag("h2", self.title, id=f"{self.name}-title"),
            tag("div", self.lead, class_="lead"),
        )
        return tag(
            "section",
            head,
            tag("div", self.body, class_="body"),
            id=self.name,
            aria_labelledby=f"{self.name}-title",
        )


def paragraphs(*texts: Child) -> Markup:
    """Wrap each text as a paragraph."""
    return Markup("".join(tag("p", text) for text in texts if text))
