"""Tokens and normal forms: for any text, and for the words that questions are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.memory.text import faint, normal, tokens
from agent_nb.memory.vocabulary import WORDS as HOLDING
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


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ＧＭＶ", "gmv"),
        ("café", "cafe"),
        ("fourteen days", "14 days"),
        ("twenty-five guests", "25 guest"),
        ("15,000 euros", "15k euro"),
        ("1.5 million", "1500000"),
        ("三十天", "30天"),
        ("1.5万元", "15000元"),
        ("一万二千", "12000"),
        ("百分之三十", "30%"),
        ("第三季度", "第3季度"),
        ("二〇二四年", "2024年"),
        ("an e-mail", "email"),
        ("Ana’s report", "ana reports"),
        ("the children went home", "a child goes home"),
        ("個人會員", "个人会员"),
        ("커피를", "커피"),
        ("コーヒーを", "コーヒー"),
        ("книги", "книга"),
        ("Straße", "strasse"),
        ("2024-05-03", "2024-5-3"),
    ],
)
def test_spellings_of_one_thing_are_one_term(text, same):
    assert tokens(text) == tokens(same)
    assert tokens(text)


GRAMMAR = "会有用和在指应能要对给为把被让按算都就与或及个"
WORDS = sorted(HOLDING) + ["有才", "会昌", "用友", "和田", "在天", "能达", "对岸", "张能", "李会", "应天"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("frame", ["请问{}的规定", "公司{}标准", "{}怎么算？", "每月{}"])
def test_a_word_that_holds_a_grammatical_character_is_found_inside_any_sentence(word, frame):
    assert word in tokens(frame.format(word))


def test_what_only_straddles_a_grammatical_character_is_faint_and_words_are_not():
    assert [term for term in tokens("七月有多少晚点的航班") if faint(term)] == ["月有"]
    assert not any(faint(word) for word in ["会员", "能量", "用户", "给付", "退款", "gmv", "30", "茶"])


@given(st.text("零一二三四五六七八九十百千万亿两〇.0123456789,", max_size=12))
def test_any_pile_of_numerals_has_terms_and_never_fails(text):
    assert all(tokens(text)) or not text


@given(st.integers(1, 99_999_999))
def test_a_chinese_numeral_is_its_number(n):
    assert tokens(f"共{_chinese(n)}元")[1:2] == tokens(f"共{n}元")[1:2]


def _chinese(n):
    if n >= 10_000:
        rest = n % 10_000
        zero = "零" if 0 < rest < 1_000 else ""
        return _chinese(n // 10_000) + "万" + zero + (_chinese(rest) if rest else "")
    said, gap = "", False
    for place, unit in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = n // place % 10
        if digit:
            said += ("零" if gap and said else "") + "零一二三四五六七八九"[digit] + unit
        gap = digit == 0
    return said
