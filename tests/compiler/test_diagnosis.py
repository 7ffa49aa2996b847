"""What cannot be compiled is reported in terms of the user's own line."""

from __future__ import annotations

import time

import numpy as np
import pytest

import treetop as tt

pytestmark = pytest.mark.usefixtures("untried")


TABLE = np.zeros(2, np.int64)


def plain_helper(x):
    return x + 1


def make(apply=None, **changes):
    def reset(self):
        self.n = 3

    def legal_actions(self, out):
        out[0] = 0
        return 1

    def default_apply(self, action):
        self.n -= 1

    def is_terminal(self):
        return self.n <= 0

    def rewards(self, out):
        out[0] = 1.0

    body = {"n": tt.field("i2"), "row": tt.field("u1", 3), "reset": reset, "legal_actions": legal_actions,
            "apply": apply or default_apply, "is_terminal": is_terminal, "rewards": rewards, **changes}  # fmt: skip
    return tt.game(players=1, num_actions=1, max_length=3)(type("Mine", (), body))


def refused(game):
    with pytest.raises(tt.errors.CompileError) as caught:
        tt.search(game, simulations=10)
    return str(caught.value)


def test_a_plain_helper_gets_a_hint_to_decorate_it():
    def apply(self, action):
        self.n = plain_helper(action)

    text = refused(make(apply))
    assert "@treetop.compiled" in text
    assert "plain_helper" in text
    assert "self.n = plain_helper(action)" in text
    assert "test_diagnosis.py, line" in text


def test_an_unknown_field_is_named_with_the_ones_there_are():
    def apply(self, action):
        self.n -= self.stoness

    text = refused(make(apply))
    assert "no field or method `stoness`" in text
    assert "n, row" in text
    assert "self.n -= self.stoness" in text


def test_an_unknown_field_that_is_set_is_named():
    def apply(self, action):
        self.n -= 1
        self.other = 3

    text = refused(make(apply))
    assert "other" in text
    assert "self.other = 3" in text


def test_a_function_of_a_module_that_cannot_be_compiled_is_named():
    def apply(self, action):
        self.n = int(time.time())

    assert "`time` of the module `time` cannot be compiled" in refused(make(apply))


def test_a_constant_array_that_is_written_gets_a_hint_to_use_a_field():
    def apply(self, action):
        self.n -= 1
        TABLE[0] += 1

    text = refused(make(apply))
    assert "an array of the module or of the class is constant: use a field for what changes" in text
    assert "TABLE[0] += 1" in text


def test_an_array_that_is_assigned_to_a_field_is_shown_by_line():
    def apply(self, action):
        self.n -= 1
        if self.n == -77:
            self.row = np.zeros(2, np.int8)

    text = refused(make(apply))
    assert "self.row[:] = ..." in text
    assert "self.row = np.zeros(2, np.int8)" in text


@pytest.mark.parametrize("value", ["[1, 2, 3]", "[0] * 3", "(1, 2, 3)", "0"])
def test_a_value_that_is_assigned_to_an_array_field_is_refused_at_its_line(value, tmp_path):
    file = tmp_path / "assigns.py"
    file.write_text(f"def reset(self):\n    self.n = 3\n    self.row = {value}\n")
    names: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    text = refused(make(reset=names["reset"]))
    assert "the field row: write self.row[:] = ..., which fills the array" in text
    assert f"line 3\n    3 | self.row = {value}" in text


def test_python_that_numba_does_not_know_is_shown_by_line():
    def with_an_object(self, action):
        thing = object()
        self.n -= hash(thing)

    def with_a_string(self, action):
        self.n -= 1
        text = "x" + self.n
        self.n = len(text)

    def with_an_open_file(self, action):
        with open("x") as file:  # noqa: PTH123
            self.n = len(file.read())

    for apply in (with_an_object, with_a_string, with_an_open_file):
        text = refused(make(apply))
        assert text.startswith("Mine.apply cannot be compiled: ")
        first = apply.__code__.co_firstlineno
        lines = [int(part.split()[0]) for part in text.split("line ")[1:2]]
        assert first <= lines[0] <= first + 4


def test_a_method_that_forgets_to_return_is_reported():
    def legal_actions(self, out):
        out[0] = 0

    text = refused(make(legal_actions=legal_actions))
    assert "legal_actions" in text
    assert "must return how many actions it wrote" in text


def test_a_value_of_a_method_that_must_return_nothing_is_reported():
    def rewards(self, out):
        if self.n == -7:
            return np.ones(1)
        out[0] = 1.0
        return None

    text = refused(make(rewards=rewards))
    assert "it must fill out and return nothing on every path" in text
    assert "def rewards(self, out):" in text


def test_a_difference_of_unsigned_elements_is_refused():
    def apply(self, action):
        self.n = self.row[0] - self.row[1]

    text = refused(make(apply))
    assert "signed type" in text
    assert "self.n = self.row[0] - self.row[1]" in text


def word_helper(x):
    return x | 1


def test_words_that_meet_signed_numbers_are_refused():
    def plus(self, action):
        self.word = self.word + 1

    def modulo(self, action):
        self.n = self.word % 7

    def by_helper(self, action):
        self.word = helper(self.word)

    helper = tt.compiled(word_helper)
    for apply in (plus, modulo, by_helper):
        text = refused(make(apply, word=tt.field("u8")))
        assert "np.uint64" in text
        assert "unsigned 64-bit word" in text

    def fine(self, action):
        self.n -= 1
        if self.word & 1 or self.word == 5:
            self.word = (self.word << 3) >> 1

    tt.search(make(fine, word=tt.field("u8")), simulations=10)


def test_negations_that_differ_are_refused():
    def negative(self, action):
        self.n = -self.row[0]

    def inverted(self, action):
        self.n = ~self.row[0]

    def truth(self, action):
        self.n = ~(self.n > 3)

    for apply, what in ((negative, "signed type"), (inverted, "signed type"), (truth, "write `not`")):
        assert what in refused(make(apply))


def test_methods_are_called_by_position():
    def apply(self, action):
        self.n -= self.less(by=1)

    def less(self, by):
        return by

    assert "by position" in refused(make(apply, less=less))


def test_an_undefined_name_is_reported():
    def apply(self, action):
        self.n = undefined_thing  # noqa: F821

    assert "undefined_thing" in refused(make(apply))


def test_a_float_in_a_field_of_whole_numbers_is_refused():
    def stores(self, action):
        self.n -= 1
        if self.n < 0:
            self.n = self.n / 2

    def stores_in_array(self, action):
        self.n -= 1
        if self.n < 0:
            self.row[action] = 0.5

    text = refused(make(stores))
    assert "the field n holds whole numbers" in text
    assert "self.n = self.n / 2" in text
    assert "self.row[action] = 0.5" in refused(make(stores_in_array))


def test_an_index_that_is_never_checked_is_refused():
    def apply(self, action):
        self.n -= 1
        self.row.flat[action] = 1

    assert "self.row.flat[action] = 1" in refused(make(apply))


def test_an_error_with_a_value_of_the_game_is_reported_as_it_was_raised_by_code_just_compiled():
    def apply(self, action):
        self.n -= 1
        if self.n < 2:
            raise ValueError(self.n)

    with pytest.raises(tt.errors.GameError, match="failed: ValueError: 1"):
        tt.search(make(apply, NEVER_IN_THE_CACHE=time.time_ns()), simulations=10)


def test_print_is_refused_with_the_line_and_works_interpreted(capsys):
    def apply(self, action):
        self.n -= 1
        print("left:", self.n)

    game = make(apply)
    text = refused(game)
    assert "treetop.position" in text
    assert 'print("left:", self.n)' in text
    tt.position(game).play("0")
    assert "left: 2" in capsys.readouterr().out


def printing_helper(x):
    print(x)
    return x


def test_print_in_a_helper_is_refused_and_in_a_method_for_people_it_is_not():
    def apply(self, action):
        self.n -= helper(1)

    helper = tt.compiled(printing_helper)
    assert "printing_helper cannot be compiled: `print`" in refused(make(apply))

    def show(self):
        print(self.n)

    def render(self):
        self.show()
        return str(self.n)

    tt.search(make(show=show, render=render), simulations=10)


def test_an_import_inside_a_method_is_refused_at_its_line():
    def apply(self, action):
        import math

        self.n -= math.ceil(0.5)

    def chance(self, action):
        import random

        self.n -= random.randint(1, 2)

    text = refused(make(apply))
    assert "write `import math` at the top of the module" in text
    assert "| import math" in text
    text = refused(make(chance))
    assert "random numbers come from `rng`" in text
    assert "| import random" in text
