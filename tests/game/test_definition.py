from __future__ import annotations

import pickle

import numpy as np
import pytest

import treetop as tt
from treetop.game.methods import ARGUMENTS, ARITY
from treetop.oracle.perft import perft


def methods(**changes):
    def reset(self):
        self.n = 3

    def legal_actions(self, out):
        out[0] = 0
        return 1

    def apply(self, action):
        self.n -= 1

    def is_terminal(self):
        return self.n == 0

    def rewards(self, out):
        out[0] = 1.0

    body = {
        "n": tt.field("i1"),
        "reset": reset,
        "legal_actions": legal_actions,
        "apply": apply,
        "is_terminal": is_terminal,
        "rewards": rewards,
    }
    body.update(changes)
    return {name: value for name, value in body.items() if value is not None}


def make(players=1, num_actions=1, max_length=3, facts=None, **changes):
    return tt.game(players=players, num_actions=num_actions, max_length=max_length, **(facts or {}))(
        type("Mine", (), methods(**changes))
    )


def test_a_game_is_played_by_hand_in_plain_python():
    state = make()()
    assert state.n == 3
    state.apply(0)
    assert state.n == 2
    assert type(state.n) is int
    assert repr(state) == "Mine(n=2)"
    other = state.copy()
    other.apply(0)
    assert (state.n, other.n) == (2, 1)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"reset": None}, "lacks reset"),
        ({"apply": None, "aply": lambda self, action: None}, "aply meant to be apply"),
        ({"n": None}, "no field"),
        ({"apply": lambda self: None}, r"Mine.apply must be apply\(self, action\), not apply\(self\)"),
        (
            {"legal_actions": lambda self, out, more: 0},
            r"must be legal_actions\(self, out\), not legal_actions\(self, out, more\)",
        ),
        ({"players": 2}, "player to move"),
        ({"players": 0}, "players must be"),
        ({"num_actions": 0}, "num_actions must be"),
        ({"max_length": -1}, "max_length must be"),
        ({"num_actions": 2.5}, "num_actions must be"),
        ({"facts": {"rewards": (1, -1)}}, "lowest < highest"),
        ({"facts": {"rewards": (0, float("nan"))}}, "lowest < highest"),
        ({"facts": {"rewards": 5}}, "pair"),
        ({"facts": {"zero_sum": True}}, "needs two players"),
        ({"reset": lambda: None}, r"Mine.reset must be reset\(self\), not reset\(\)"),
        ({"apply": lambda action: None}, r"Mine.apply must be apply\(self, action\), not apply\(action\)"),
        (
            {"chance_outcomes": lambda self, actions, chances: 0},
            r"has chance_outcomes but lacks num_outcomes=... \(the",
        ),
        (
            {"facts": {"num_outcomes": 2}},
            "has num_outcomes but lacks the method chance_outcomes; both belong to chance",
        ),
        ({"facts": {"action_size": 2}}, "has action_size but lacks the methods sample_action and apply_vector; both"),
        ({"facts": {"num_action": 4}}, "no argument 'num_action'; did you mean num_actions[?] there are action_size"),
        ({"information": lambda self, player: 0}, "has information but lacks determinize; both belong to imperfect"),
    ],
)
def test_what_cannot_be_a_game_is_refused_where_it_is_written(changes, what):
    with pytest.raises(tt.errors.GameDefinitionError, match=what) as caught:
        make(**changes)
    assert isinstance(caught.value, ValueError)


def test_a_decorator_without_brackets_is_explained_with_its_line():
    with pytest.raises(
        tt.errors.GameDefinitionError, match=r"needs brackets .*players=2.*\n  .*test_definition.py, line"
    ):
        tt.game(type("Mine", (), methods()))


def test_a_decorator_that_lacks_a_fact_is_explained_with_its_line():
    with pytest.raises(tt.errors.GameDefinitionError, match=r"needs max_length=...\n  .*test_definition.py, line"):
        tt.game(players=2)


def test_the_arguments_of_methods_are_named_where_they_are_counted():
    assert {name: len(ARGUMENTS.get(name, "").split()) for name in ARITY} == ARITY


@pytest.mark.parametrize("dtype", ["f4", "f2", "c16", "U5", "O", "M8[s]", "i3", "nonsense", None, [("a", "i4")]])
def test_a_field_of_a_kind_that_cannot_compile_is_refused(dtype):
    with pytest.raises(tt.errors.GameDefinitionError, match="cannot have the type"):
        tt.field(dtype)


@pytest.mark.parametrize("shape", [0, -3, (2, 0), 1.5, "ab"])
def test_a_field_of_an_impossible_shape_is_refused(shape):
    with pytest.raises(tt.errors.GameDefinitionError, match="shape"):
        tt.field("i1", shape)


def test_stores_are_checked_in_interpreted_mode():
    Mine = make(
        n=tt.field("i1"), row=tt.field("u1", 3), real=tt.field("f8"), flag=tt.field("bool"), word=tt.field("u8")
    )
    state = Mine()
    with pytest.raises(tt.errors.GameError, match=r"n \(i1\) holds -128 to 127; 200 does not fit"):
        state.n = 200
    with pytest.raises(tt.errors.GameError, match="whole numbers; 1.5"):
        state.n = 1.5
    with pytest.raises(tt.errors.GameError, match="row.*256 does not fit"):
        state.row[1] = 256
    with pytest.raises(IndexError):
        state.row[3] = 1
    with pytest.raises(
        tt.errors.GameError, match=r"the field row: .* \(9,\) do not fit into \(3,\); write self.row\[:\]"
    ):
        state.row = [0] * 9
    with pytest.raises(AttributeError, match="no field 'm'; its fields are"):
        state.m = 1
    state.row = [1, 2, 3]
    state.row[1:] = 7
    assert [type(value) for value in state.row] == [int] * 3
    assert list(state.row) == [1, 7, 7]
    assert (state.row.sum(), state.row.max(), state.row.min(), len(state.row), state.row.shape) == (15, 7, 1, 3, (3,))
    assert np.array(state.row).tolist() == [1, 7, 7]
    state.real, state.flag, state.word = 2, 1, 2**64 - 1
    assert (state.real, state.flag) == (2.0, True)
    assert type(state.word) is np.uint64
    assert ~state.word == 0
    assert state.n == 3


def test_unknown_attributes_are_refused_with_the_fields_when_they_are_read_and_when_they_are_set():
    state = make(score=tt.field("i1"), broken=property(lambda self: self.steps), last=0)()
    with pytest.raises(AttributeError, match=r'`last` is a constant of the class: .*, last = treetop.field\("i4"\)'):
        state.last = 1
    with pytest.raises(
        AttributeError, match="no field or method 'scores'; did you mean score[?] its fields are n, score"
    ):
        _ = state.scores
    with pytest.raises(AttributeError, match="no field 'scores'; did you mean score[?] its fields are n, score"):
        state.scores = 1
    with pytest.raises(AttributeError, match="no field or method 'steps'"):
        _ = state.broken
    assert not hasattr(state, "anything")


@pytest.mark.parametrize(
    ("attribute", "read", "advice"),
    [
        ([4, 6], "self.extra[0]", 'a list: make it a tuple, or if it changes during a game a field: extra = treetop.field("i1", 2)'),
        ({0: 4}, "self.extra[0]", "a dict: use numbers, tuples or arrays instead"),
        (staticmethod(lambda x: x), "self.extra(1)", "a static method: remove the decorator, and make `self` its first argument"),
        (classmethod(lambda cls, x: x), "self.extra(1)", "a class method: remove the decorator"),
        (lambda self: 1, "self.extra[0]", "a method, and is used as a field here: give the field and the method different names"),
        (property(lambda self: 1), "self.extra", "a property: remove the decorator, and call it as self.extra()"),
    ],
)  # fmt: skip
def test_an_attribute_that_rules_use_and_cannot_be_compiled_is_refused_with_what_to_write(
    attribute, read, advice, tmp_path
):
    file = tmp_path / "reads.py"
    file.write_text(
        f"def apply(self, action):\n    self.n -= 1\n    self.help()\ndef help(self):\n    self.n -= {read}\n"
    )
    names: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(tt.errors.GameDefinitionError) as caught:
        make(apply=names["apply"], help=names["help"], extra=attribute)
    assert f"Mine.help cannot be compiled: `extra` is {advice}" in str(caught.value)
    assert f"line 5: self.n -= {read}" in str(caught.value)
    assert make(render=names["help"], extra=attribute)().n == 3


def test_array_fields_behave_as_numpy_arrays_in_sixty_four_bits():
    Mine = make(c=tt.field("i1", 4), u=tt.field("u1", 3))
    state = Mine()
    state.c = [1, 0, 0, 0]
    state.c[1:] = state.c[:-1]
    assert list(state.c) == [1, 1, 0, 0]
    assert (state.c == 0).tolist() == [False, False, True, True]
    assert np.count_nonzero(state.c == 1) == 2
    assert np.any(state.c > 0)
    assert np.sum(state.c) == 2
    assert np.max(state.c) == 1
    assert state.c.argmax() == 0
    assert state.c.mean() == 0.5
    state.u = [200, 200, 200]
    assert state.u.sum() - 1000 == -400
    assert (np.array(state.u) * 2).tolist() == [400, 400, 400]
    with pytest.raises(AttributeError):
        _ = state.c.no_such_thing


def test_states_can_be_copied_deeply():
    import copy

    state = tt.load_game("tic_tac_toe")()
    twin = copy.deepcopy(state)
    twin.apply(4)
    assert repr(twin) == repr(twin.copy()) != repr(state)


def test_two_dimensional_fields_work_in_both_modes():
    @tt.game(players=1, num_actions=6, max_length=6)
    class Grid:
        cells = tt.field("i1", (2, 3))
        SIDE = 3

        def reset(self):
            self.cells[:] = 0

        def empty(self, row, column):
            return self.cells[row, column] == 0

        def legal_actions(self, out):
            count = 0
            for row in range(2):
                for column in range(self.SIDE):
                    if self.empty(row, column):
                        out[count] = row * self.SIDE + column
                        count += 1
            return count

        def apply(self, action):
            self.cells[action // self.SIDE][action % self.SIDE] = 1

        def is_terminal(self):
            return self.cells.sum() == 6

        def rewards(self, out):
            out[0] = 1.0

    assert tt.check(Grid, games=50).games == 50
    assert perft(Grid, 3) == 6 * 5 * 4


def test_methods_constants_and_bases_are_seen_by_compiled_code():
    class Base:
        def step(self, action):
            return action + self.EXTRA

    @tt.game(players=1, num_actions=2, max_length=9, rewards=(0, 30))
    class Derived(Base):
        n = tt.field("i2")
        turns = tt.field("u1")
        EXTRA = 2
        WEIGHTS = (1, 2)

        def reset(self):
            self.n = 0

        def legal_actions(self, out):
            out[0], out[1] = 0, 1
            return 2

        def apply(self, action):
            self.n += self.step(action) * self.WEIGHTS[1]
            self.turns += 1

        def is_terminal(self):
            return self.turns == 4

        def rewards(self, out):
            out[0] = self.n

    tt.check(Derived, games=30)  # which compares with this:
    state = Derived()
    state.apply(1)
    assert state.n == (1 + 2) * 2


def test_small_integers_compute_in_sixty_four_bits_in_both_modes():
    @tt.game(players=1, num_actions=2, max_length=3, rewards=(-1000, 1000))
    class Small:
        a = tt.field("i1")
        b = tt.field("u1")
        c = tt.field("u1")
        total = tt.field("i8")
        left = tt.field("i1")

        def reset(self):
            self.a, self.b, self.c, self.left = 100, 3, 200, 3

        def legal_actions(self, out):
            out[0], out[1] = 0, 1
            return 2

        def apply(self, action):
            self.total += self.a * 2 + (self.b - self.c) + (self.b << 7) - self.a * action
            self.left -= 1

        def is_terminal(self):
            return self.left == 0

        def rewards(self, out):
            out[0] = self.total / 10

    tt.check(Small, games=20)
    state = Small()
    state.apply(1)
    assert state.total == 200 + (3 - 200) + (3 << 7) - 100


def test_a_variant_inherits_from_a_game():
    four = tt.load_game("connect_four")

    @tt.game(players=2, num_actions=7, max_length=42)
    class Backwards(four):
        """Whoever makes four in a row loses."""

        def rewards(self, out):
            out[self.player] = 1.0 if self.won else 0.0
            out[1 - self.player] = -1.0 if self.won else 0.0

    tt.check(Backwards, games=50)
    assert Backwards.digest != four.digest
    made = "4 1 5 1 6 1 7"
    assert tt.position(Backwards, moves=made).rewards == [-1.0, 1.0]
    assert tt.position(four, moves=made).rewards == [1.0, -1.0]


def test_a_user_may_have_a_method_called_copy_but_no_init():
    Mine = make(copy=lambda self: 5)
    assert Mine().copy() == 5
    assert tt.search(Mine, simulations=20).value == 1.0
    with pytest.raises(tt.errors.GameDefinitionError, match="reset"):
        make(__init__=lambda self: None)


def test_games_are_named_not_pickled():
    with pytest.raises(TypeError, match="load_game"):
        pickle.dumps(tt.load_game("nim"))


def test_games_and_families_print():
    assert repr(tt.load_game("hex(size=3)")) == "<game hex(size=3)>"
    assert "2 players" in str(tt.load_game("nim"))
    assert "(1 player, 1 action, at most 3 moves)" in str(make())
    from treetop.games.gomoku import gomoku

    assert repr(gomoku) == "<family gomoku(size=15, line=5)>"
    assert gomoku(9) is gomoku(size=9, line=5)
