"""Arguments are checked by one module, and every refusal names the argument, what is allowed, and the value."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treetop import checks
from treetop.errors import ConfigError, UnknownGameError


@pytest.mark.parametrize("value", [1, 5, 2**62])
def test_a_whole_number_in_range_is_returned(value):
    assert checks.whole("n", value, 1) == value


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "1", None, math.nan, np.float64(2), [1]])
def test_anything_but_a_whole_number_in_range_is_refused(value):
    with pytest.raises(ConfigError, match=r"^n must be a whole number of at least 1, not "):
        checks.whole("n", value, 1)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (None, None, "a whole number, not 'x'"),
        (1, None, "a whole number of at least 1, not 'x'"),
        (None, 9, "a whole number of at most 9, not 'x'"),
        (2, 10_000, "a whole number from 2 to 10,000, not 'x'"),
        (2, checks.INT32_MAX, "a whole number of at least 2, not 'x'"),
    ],
)
def test_the_range_of_a_whole_number_is_in_the_message(low, high, text):
    with pytest.raises(ConfigError) as caught:
        checks.whole("n", "x", low, high)
    assert str(caught.value) == f"n must be {text}"


def test_the_32_bit_bound_is_named_where_it_is_exceeded():
    assert checks.whole("n", 2**31 - 1, 1, checks.INT32_MAX) == 2**31 - 1
    with pytest.raises(ConfigError, match="from 1 to 2,147,483,647, not 2147483648"):
        checks.whole("n", 2**31, 1, checks.INT32_MAX)


@pytest.mark.parametrize("value", [0, 1, -2.5, 2**62, np.float64(0.5)])
def test_a_number_is_returned_as_a_float(value):
    found = checks.number("x", value)
    assert type(found) in (float, np.float64)
    assert found == value


@pytest.mark.parametrize("value", [True, "1", None, math.nan, math.inf, -math.inf, 10**400, 2**63, 1j, [1.0]])
def test_anything_but_a_finite_number_is_refused(value):
    with pytest.raises(ConfigError, match=r"^x must be a number, not "):
        checks.number("x", value)


def test_infinity_is_a_number_where_it_is_allowed_and_nan_never_is():
    assert checks.number("x", math.inf, 0, finite=False) == math.inf
    with pytest.raises(ConfigError):
        checks.number("x", math.nan, 0, finite=False)


@pytest.mark.parametrize(
    ("bounds", "value", "text"),
    [
        ({"low": 0}, -0.1, "a number of at least 0, not -0.1"),
        ({"low": 0, "high": 1}, 1.5, "a number from 0 to 1, not 1.5"),
        ({"above": 0}, 0, "a positive number, not 0"),
        ({"above": 0, "unit": "seconds"}, 0, "a positive number of seconds, not 0"),
        ({"above": 1}, 1, "a number above 1, not 1"),
        ({"above": 0, "high": 1000}, 1001, "a number above 0 and at most 1,000, not 1001"),
        ({"above": 0, "below": 0.5}, 0.5, "a number above 0 and below 0.5, not 0.5"),
        ({"low": 0, "optional": True}, "x", "a number of at least 0 or None, not 'x'"),
    ],
)
def test_the_range_of_a_number_is_in_the_message(bounds, value, text):
    with pytest.raises(ConfigError) as caught:
        checks.number("x", value, **bounds)
    assert str(caught.value) == f"x must be {text}"


def test_none_is_allowed_only_where_an_argument_is_optional():
    assert checks.whole("n", None, 1, optional=True) is None
    assert checks.number("x", None, optional=True) is None
    assert checks.flag("f", None, optional=True) is None
    for check in (checks.whole, checks.number, checks.share, checks.flag):
        with pytest.raises(ConfigError):
            check("x", None)


def test_a_share_lies_from_0_to_1():
    assert [checks.share("s", value) for value in (0, 0.5, 1)] == [0, 0.5, 1]
    with pytest.raises(ConfigError, match="s must be a number from 0 to 1, not -1"):
        checks.share("s", -1)


@pytest.mark.parametrize("value", [0, 1, "True", np.True_])
def test_a_flag_is_true_or_false_and_nothing_else(value):
    assert checks.flag("f", False) is False
    with pytest.raises(ConfigError, match="f must be True or False, not "):
        checks.flag("f", value)


def test_an_unknown_choice_gets_the_closest_one_or_all_of_them():
    assert checks.one_of("by", "key", ("state", "key")) == "key"
    with pytest.raises(ConfigError, match="^by must be 'state' or 'key', not 'kee'; did you mean 'key'\\?$"):
        checks.one_of("by", "kee", ("state", "key"))
    with pytest.raises(ConfigError, match="^by must be 'a', 'b' or a function, not 3$"):
        checks.one_of("by", 3, ("a", "b"), more="a function")
    with pytest.raises(ConfigError, match="^by must be 'a', not \\['a'\\]$"):
        checks.one_of("by", ["a"], ("a",))


def test_the_error_class_can_be_chosen():
    for check in (checks.whole, checks.number, checks.share, checks.flag):
        with pytest.raises(UnknownGameError):
            check("x", "text", error=UnknownGameError)
    with pytest.raises(UnknownGameError):
        checks.one_of("x", "text", ("a",), error=UnknownGameError)


def test_a_message_stays_short_whatever_the_value():
    for value in ("x" * 10_000, 10**10_000, [0] * 10_000):
        with pytest.raises(ConfigError) as caught:
            checks.whole("n", value, 1, 2)
        assert len(str(caught.value)) < 300
