"""What a person sees of a run: events → HTML and text, pure functions.

They know events and records only, so that any saved transcript can be drawn anywhere, without a kernel.
"""

from .board import Board
from .calls import question_html
from .gates import recall_html
from .html import plan_html, run_html
from .lines import Lines
from .text import plan_text, run_text
from .window import sheet_html as window_html

__all__ = [
    "Board",
    "Lines",
    "plan_html",
    "plan_text",
    "question_html",
    "recall_html",
    "run_html",
    "run_text",
    "window_html",
]
