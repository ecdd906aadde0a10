"""What every page of ours must be: well nested, few tags, inline styles, nothing that runs."""

import re
from html.parser import HTMLParser

TAGS = {
    *("a", "b", "blockquote", "br", "code", "del", "details", "div", "em", "h4", "h5", "hr", "img", "li"),
    *("ol", "pre", "span", "strong", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {"style", "title", "dir", "open", "href", "target", "rel", "alt", "src", "start"}
LIVE = {"data-since", "data-takes", "data-seconds", "data-limit", "data-record", "data-entity"}
VOID = {"br", "hr", "img"}
PICTURE = {"svg", "g", "circle", "line", "text"}
PICTURED = {
    *(
        "xmlns",
        "viewbox",
        "role",
        "aria-label",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "fill",
        "stroke",
    ),
    *("stroke-opacity", "fill-opacity", "font-size", "text-anchor"),
}


class Checked(HTMLParser):
    """Parses a page and fails where it holds what an untrusted notebook would strip, or worse.

    `text` is what a reader sees; `tags` and `titles` are what was used.
    """

    def __init__(self, page, live=False, pictures=False):
        super().__init__(convert_charrefs=True)
        self.attributes = (ATTRIBUTES | LIVE if live else ATTRIBUTES) | (PICTURED if pictures else set())
        self.known = TAGS | PICTURE if pictures else TAGS
        self.open, self.tags, self.titles, self.links, self.pieces = [], [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open, f"left open: {self.open}"
        self.text = "".join(self.pieces)

    def handle_starttag(self, tag, attrs):
        assert tag in self.known, f"<{tag}>"
        self.tags.append(tag)
        for name, value in attrs:
            assert name in self.attributes, f"<{tag} {name}={value!r}>"
            if name == "href":
                assert re.match(r"https?://", value), value
                self.links.append(value)
            if name == "src":
                assert value.startswith(("data:image/png;base64,", "data:image/svg+xml;base64,")), value[:60]
            if name == "style":
                assert "url(" not in value
                assert "expression" not in value
                assert "position" not in value
            if name == "title":
                self.titles.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a beginning"
        assert self.open.pop() == tag, f"</{tag}>"

    def handle_data(self, data):
        self.pieces.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data[:60]}")

    def handle_decl(self, decl):
        raise AssertionError(f"a declaration: {decl[:60]}")

    def handle_pi(self, data):
        raise AssertionError(f"a processing instruction: {data[:60]}")
