"""Markdown becomes safe HTML, whatever a model writes."""

import pytest
from html_check import Checked
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.notebook.views.markdown import markdown_html

PIECES = [
    *"ab 1*_`~#>-+|[]()<>&\"'\\\n\t:/.=!中",
    "**",
    "__",
    "```",
    "https://e.example/",
    "](https://e.example)",
    "\n\n",
]
MARKS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)


@given(MARKS)
def test_any_text_gives_a_well_formed_harmless_page(text):
    Checked(markdown_html(text))


@given(
    st.lists(
        st.sampled_from(["**", "*", "_", "~~", "a", " ", "`", "[", "](https://e.example)"]), max_size=16
    ).map("".join)
)
def test_elements_that_overlap_in_the_text_do_not_in_the_page(text):
    Checked(markdown_html(text))


@given(
    st.lists(
        st.sampled_from(
            [
                "- a",
                "  - b",
                "1. c",
                "> q",
                "",
                "```",
                "| x | y |",
                "| --- | ---: |",
                "# h",
                "    d",
                "***",
                "t",
            ]
        )
    )
)
def test_any_sequence_of_blocks_is_well_formed_and_loses_no_word(lines):
    page = Checked(markdown_html("\n".join(lines)))
    if "```" not in lines:
        for word in "acht":
            want = sum(line.endswith(word) for line in lines if not line.startswith("|"))
            assert page.text.count(word) >= min(want, 1)


@given(MARKS, st.data())
def test_marks_stand_in_order_whatever_is_around_them(text, data):
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    page = markdown_html(text, [(at, f'<sup title="t">m{i}</sup>') for i, at in enumerate(places)])
    found = Checked(page)
    assert all(title == "t" for title in found.titles)


@given(st.text(max_size=60))
def test_no_character_that_a_page_may_not_hold(text):
    page = markdown_html(text)
    page.encode("utf-8")
    assert not any("\ue000" <= c <= "\ue003" or (c < " " and c not in "\n\r\t") for c in page)


def test_private_characters_of_the_text_cannot_pose_as_marks():
    page = markdown_html("\ue0000\ue001 \ue0020\ue003 `x`", [(0, "<sup>m</sup>")])
    assert page.count("<sup>") == 1
    assert page.count("<code") == 1


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,AAAA)",
    "![x](https://evil.example/pixel.png)",
    '[x](https://e.example/"onmouseover="alert(1))',
    'https://e.example/"><script>alert(1)</script>',
    "<a href='javascript:alert(1)'>x</a>",
    "```\n</pre><script>alert(1)</script>\n```",
    "`</code><script>`",
    "| <b onclick=x>a</b> | b |\n| --- | --- |\n| <script> | c |",
    "# <svg onload=alert(1)>",
    "[**x](https://e.example)** <style>*{display:none}</style>",
    "<!-- x --><![CDATA[ x ]]><?php x ?>",
    "[a](https://e.example/[b](https://f.example))",
    "&#60;script&#62;",
    "https://e.example/`code`x",
    "https://e.example/\\_x",
    '[a](https://e.example/`"onclick=x`)',
]


@pytest.mark.parametrize("text", ATTACKS)
def test_attacks_stay_text(text):
    page = Checked(markdown_html(text))
    assert not {"img", "script"} & set(page.tags)


def test_the_marks_that_models_use():
    page = markdown_html(
        "# Title\n\nA **bold** and *slanted* and `code` and ~~gone~~ line\nand next.\n\n"
        "- one\n  - deeper\n- two\n\n3. three\n4. four\n\n> said\n\n```sql\nSELECT a<b\n```\n\n---\n"
        "[docs](https://example.org/a_b_c) and https://example.org/x_y.\n"
    )
    checked = Checked(page)
    for tag in ("h4", "strong", "em", "code", "del", "ul", "ol", "li", "blockquote", "pre", "hr", "br"):
        assert tag in checked.tags, tag
    assert 'start="3"' in page
    assert "SELECT a&lt;b" in page
    assert checked.links == ["https://example.org/a_b_c", "https://example.org/x_y"]
    assert page.index("deeper") < page.index("two")


def test_a_table_with_numbers_to_the_right():
    page = markdown_html("| a | n |\n| --- | ---: |\n| x \\| y | **1** |\n| z |")
    assert page.count("<tr") == 3
    assert "x | y" in Checked(page).text
    assert "text-align:right" in page


def test_names_with_underscores_and_products_are_not_emphasis():
    page = markdown_html("dep_delay and arr_delay, 2 * 3 * 4, snake_case_name")
    assert "<em>" not in page
    assert "dep_delay and arr_delay, 2 * 3 * 4" in page


def test_chinese_with_bold_next_to_characters():
    assert "<strong>延误</strong>最多" in markdown_html("结果：**延误**最多，见 https://example.org/页 。")


@pytest.mark.parametrize(
    "text",
    [
        "*" * 20_000,
        "[" * 20_000,
        "**a " * 10_000,
        "`" * 9_999,
        "> " * 5_000 + "x",
        "_a" * 10_000,
        "- " * 5_000,
        "|" * 20_000 + "\n" + "-|" * 9_000,
        "https://" * 5_000,
        "\\" * 10_000,
    ],
    ids=lambda t: t[:6],
)
def test_long_runs_of_marks_come_to_an_end(text):
    Checked(markdown_html(text))
