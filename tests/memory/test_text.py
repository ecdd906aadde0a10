"""Tokens and normal forms: for any text, and for the words that questions are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.memory.text import normal, tokens
from agent_nb.tokens import estimate_tokens

ANY = st.text(st.characters(exclude_categories=()), max_size=80)


@given(ANY)
def test_tokens_of_any_text_are_words_without_blanks_and_always_the_same(text):
    found = tokens(text)
    assert found == tokens(text)
    assert all(term and not any(c.isspace() for c in term) for term in found)
    assert tokens(f"  {text}\n") == found


@given(ANY)
def test_normal_is_its_own_normal(text):
    assert normal(normal(text)) == normal(text)
    assert normal(f"  {text} ") == normal(text)


@given(ANY, ANY)
def test_more_text_costs_no_fewer_tokens(one, two):
    assert 0 <= estimate_tokens(one) <= estimate_tokens(one + two)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Delayed FLIGHTS", "delay flight"),
        ("dep_delay", "depDelay"),
        ("What is the refund window?", "refund windows"),
        ("延误是怎么定义的？", "延误的定义"),
        ("don't", ""),
    ],
)
def test_words_that_mean_the_same_are_the_same_terms(text, same):
    assert sorted(tokens(text)) == sorted(tokens(same))


@pytest.mark.parametrize("text", ["Q3", "2026", "EV 9E", "A321"])
def test_names_and_numbers_are_kept(text):
    assert tokens(text) == text.lower().split()


def test_two_characters_inside_a_sentence_are_found():
    assert set(tokens("退货")) <= set(tokens("客户可以在三十天内退货并退款"))
