import datetime

import pytest

from agent_nb.models.prices import AS_OF, PRICES, Price, dollars, price_of

MILLION = 1_000_000


def test_each_kind_of_token_has_its_price():
    price = Price(2.0, 10.0)
    assert dollars({"input_tokens": MILLION}, price) == 2.0
    assert dollars({"output_tokens": MILLION}, price) == 10.0
    assert dollars({"cache_read_input_tokens": MILLION}, price) == pytest.approx(0.2)
    assert dollars({"cache_creation_input_tokens": MILLION}, price) == 2.5
    hour = {"cache_creation": {"ephemeral_1h_input_tokens": MILLION}}
    assert dollars({"cache_creation_input_tokens": MILLION} | hour, price) == 4.0
    assert dollars({}, price) == dollars({"input_tokens": None}, price) == 0.0


def test_a_long_prompt_costs_more_with_its_reply():
    haiku = PRICES["claude-haiku-5-5"]
    short = {"input_tokens": 60_000, "cache_read_input_tokens": 40_000, "output_tokens": 1_000}
    longer = short | {"input_tokens": 60_001}
    assert dollars(longer, haiku) == pytest.approx(5 * dollars(short, haiku), rel=1e-4)


def test_snapshots_cost_what_their_model_costs_and_unknown_ones_nothing_known():
    assert price_of("claude-sonnet-5-5-20261101", PRICES) == PRICES["claude-sonnet-5-5"]
    assert price_of("claude-sonnet-5-6", PRICES) is None
    assert price_of("mine", {"mine": (1, 2)}) == Price(1, 2)


def test_the_table_is_dated():
    assert datetime.date.fromisoformat(AS_OF) > datetime.date(2026, 1, 1)
    assert all(0 < price.input < price.output for price in PRICES.values())
