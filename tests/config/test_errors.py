"""The sentence that a refused setting makes of its key, value, allowed values and reason."""

import pickle

import pytest

from alphazero.runtime.errors import ConfigError

#: Arguments of `ConfigError.of` -> what follows "is not allowed: ".
ENDINGS = (
    (("seed", -1, "0 or more"), "seed takes 0 or more."),
    (("engine", "x", ["torch", "openvino"]), "engine takes torch or openvino."),
    (("engine", "x", ("a", "b", "c"), "it is missing"), "it is missing. Allowed: a, b or c."),
    (("setup", "standard", ["ours"], "there is one"), "there is one. Allowed: ours."),
    (("workers.overlap", True, False, "it is late"), "it is late. Allowed: false."),
    (("token", None, None, "it is short"), "it is short."),
    (("nodes", 5, 0, "the game has no rules"), "the game has no rules. Allowed: 0."),
)


@pytest.mark.parametrize("arguments, ending", ENDINGS)
def test_the_sentence_ends_with_the_reason_and_what_is_allowed(arguments, ending):
    assert str(ConfigError.of(*arguments)).endswith(f" is not allowed: {ending}")


@pytest.mark.parametrize(
    "value, text", ((1.5, "1.5"), (True, "true"), (None, "null"), ([1, 2], "[1,2]"), ("", ""))
)
def test_the_value_is_written_as_it_is_typed(value, text):
    error = ConfigError.of("key", value, "something else")
    assert str(error).startswith(f"key={text} is")
    assert (error.key, error.value, error.allowed) == ("key", value, "something else")


def test_an_error_of_another_process_keeps_its_attributes():
    error = pickle.loads(pickle.dumps(ConfigError.of("device", "x", ["cpu"], "it is none")))
    assert (error.key, error.value, error.allowed) == ("device", "x", ["cpu"])
    assert "Allowed: cpu." in str(error)
