"""Settings: every choice composes, recipes have their numbers, bad words are refused."""

import dataclasses
import functools
import itertools
from pathlib import Path

import pytest
from mostly_slow import mostly_slow
from omegaconf import OmegaConf

from alphazero.config.command_line import from_overrides, split_values
from alphazero.config.settings import (
    check,
    from_plain,
    from_stored,
    option,
    rows,
    section,
    types_of,
)
from alphazero.own_games.registry import make_game, same_game
from alphazero.runtime.errors import ConfigError
from alphazero.training.run_config import compose, config_folder, config_groups, game_of_choice
from alphazero.training.settings import TrainSettings, check_run

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "snort.py")
CHOICES = config_groups()


def words_for(game):
    return [f"game={game}", f"game.name={EXAMPLE}"] if game == "custom" else [f"game={game}"]


# --- everything composes --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("game", CHOICES["game"])
def test_every_game_composes_with_every_experiment(game):
    """Ablations are for Connect Four; here they also meet the game with the shortest games."""
    meets_ablations = game in ("connect_four", "tic_tac_toe")
    name = compose(words_for(game)).game.name
    assert name == stored_value(f"game/{game}", "game.name") or game == "custom"
    for experiment in CHOICES["experiment"]:
        if meets_ablations or not experiment.startswith("ablation/"):
            assert compose([*words_for(game), f"experiment={experiment}"]).game.name == name


def stored_value(file, key):
    return OmegaConf.select(OmegaConf.load(config_folder() / f"{file}.yaml"), key)


@pytest.mark.parametrize(
    "group",
    mostly_slow(
        group
        for group in CHOICES
        if len(CHOICES[group]) > 1 and group not in ("game", "experiment")
    ),
)
def test_a_chosen_group_has_its_values_whatever_the_game_proposes(group):
    for choice in CHOICES[group]:
        settings = compose(["game=connect_four", f"{group}={choice}"])
        stored = OmegaConf.to_container(OmegaConf.load(config_folder() / group / f"{choice}.yaml"))
        found = dataclasses.asdict(getattr(settings, group))
        assert {key: found[key] for key in stored} == stored


@functools.cache
def values_of(*words):
    """Return all settings that the words make, by key."""
    return {row.key: row.value for row in rows(compose(list(words)))}


def test_words_win_over_experiments_and_experiments_over_games():
    key = "selfplay.num_simulations"
    values = values_of("experiment=connect_four_5min")
    assert values["game.name"] == "connect_four"
    assert values[key] == stored_value("game/connect_four", key)
    assert values["run.time_limit_s"] == 270
    assert values_of("experiment=dummy_run", "game=connect_four")[key] == 8
    values = values_of("experiment=notebook_connect_four", "network=2x32", f"{key}=77")
    assert (values["network.kind"], values["network.channels"], values[key]) == ("resnet", 32, 77)


LENGTHS_S = {"1min": 60, "5min": 300, "10min": 600, "1h": 3600, "3h": 10_800, "overnight": 28_800}


@pytest.mark.slow
def test_the_presets_do_what_their_names_say():
    presets = [name for name in CHOICES["experiment"] if name.rpartition("_")[2] in LENGTHS_S]
    assert len(presets) >= 10
    for name in presets:
        game, _, length = name.rpartition("_")
        assert values_of(f"experiment={name}")["game.name"] == game_of_choice(game)
        limit_s = stored_value(f"experiment/{name}", "run.time_limit_s")
        assert 0.85 * LENGTHS_S[length] < limit_s < LENGTHS_S[length]
    assert values_of("pit=off")["pit.every"] == 0 < values_of("pit=on")["pit.every"]
    assert values_of()["pit.acceptance"] == 0.55


@pytest.mark.parametrize(
    "choice, name",
    {
        "tic_tac_toe": "tic_tac_toe",
        "connect_four": "connect_four",
        "connect_x": "connect_x:5x5x4",
        "othello": "othello",
        "othello_6x6": "othello:6",
        "othello_4x4": "othello:4",
        "gomoku": "gomoku",
    }.items(),
)
def test_a_choice_of_game_has_its_name(choice, name):
    assert values_of(f"game={choice}")["game.name"] == game_of_choice(choice) == name
    assert make_game(choice).name == name and same_game(choice, name)


@pytest.mark.parametrize(
    "name, choice",
    {
        "othello:6": "othello_6x6",
        "othello:4": "othello_4x4",
        "othello:8": "othello",
        "othello:10": "othello",
        "connect_x:4x5x4": "connect_x",
        "gomoku:15x15x5": "gomoku",
        "gomoku:9x9x5": "gomoku",
        "gomoku:7x6x4": "gomoku",
        str(EXAMPLE): "custom",
    }.items(),
)
def test_game_takes_every_name_with_the_proposals_for_that_game(name, choice):
    wanted = values_of(f"game={choice}", f"game.name={make_game(name).name}")
    assert values_of(f"game={name}") == wanted


@pytest.mark.slow
def test_an_experiment_takes_another_game_too():
    recipe = "experiment=ablation/adamw"
    assert values_of(recipe, "game=connect_four") == values_of(recipe)
    for name in (str(EXAMPLE), "othello"):
        assert values_of(recipe, f"game={name}")["game.name"] == name


def test_a_game_named_for_an_experiment_keeps_the_values_of_the_experiment():
    experiment = "experiment=connect_four_5min"
    values = values_of(experiment, "game.name=connect_x:5x5x4")
    assert values["game.name"] == "connect_x:5x5x4"
    changed = {key for key, value in values_of(experiment).items() if values[key] != value}
    assert changed == {"game.name"}


@pytest.mark.slow
def test_no_two_ablations_are_the_same_run():
    names = [name for name in CHOICES["experiment"] if name.startswith("ablation/")]
    runs = {name: compose([f"experiment={name}"]) for name in names}
    assert len(runs) > 10
    assert [(a, b) for a, b in itertools.combinations(runs, 2) if runs[a] == runs[b]] == []


@pytest.mark.parametrize("game", mostly_slow(CHOICES["game"]))
def test_the_choice_alphazero_has_the_values_of_the_paper_whatever_the_game_proposes(game):
    values = values_of(*words_for(game), "search=alphazero", "selfplay=alphazero")
    paper = {
        "search.pb_c_init": 1.25,
        "search.pb_c_base": 19652,
        "search.dirichlet_alpha": 0.3,
        "search.dirichlet_alpha_per_move": False,
        "search.dirichlet_fraction": 0.25,
        "search.first_play_urgency": 0.0,
        "search.root_first_play_urgency": 0.0,
        "search.root_prior_temperature": 1.0,
        "search.forced_playouts_k": 0.0,
        "search.root": "puct",
        "selfplay.random_opening_fraction": 0.0,
    }
    assert {key: values[key] for key in paper} == paper


# --- what is refused ------------------------------------------------------------------------------

NUMBER, WHOLE, SWITCH = "a number", "a whole number", "true or false"
#: Words that are refused by themselves: words -> (key, value, a part of what is allowed).
REFUSED = {
    "foo=1": ("foo", "1", "seed"),
    "+foo=1": ("foo", "1", "seed"),
    "+learner.foo=1": ("learner.foo", "1", "seed"),
    "=3": ("=3", None, None),
    "learner=null": ("learner", "null", "adamw"),
    "learner=[adam": ("learner", "[adam", "adamw"),
    "hydra/launcher=typo": ("hydra/launcher", "typo", "seed"),
    "seed": ("seed", None, None),
    "learner=rmsprop": ("learner", "rmsprop", "adamw"),
    "game=chess": ("game", "chess", "tic_tac_toe"),
    "game={}": ("game", "{}", "tic_tac_toe"),
    "game=": ("game", "", "tic_tac_toe"),
    "seed=(": ("seed", "(", WHOLE),
    "seed=": ("seed", "", WHOLE),
    "seed=-1": ("seed", -1, "0 to 2147483647"),
    "seed=2147483648": ("seed", 2**31, "0 to 2147483647"),
    "seed=${foo}": ("seed", None, None),
    "run.name=null": ("run.name", None, "text"),
    "selfplay.num_simulations=many": ("selfplay.num_simulations", "many", WHOLE),
    "selfplay.num_simulations=1.5": ("selfplay.num_simulations", "1.5", WHOLE),
    "selfplay.num_simulations=1": ("selfplay.num_simulations", 1, "2 to 1000000"),
    "search.reuse_tree=perhaps": ("search.reuse_tree", "perhaps", SWITCH),
    "search.dirichlet_fraction=1.01": ("search.dirichlet_fraction", 1.01, "0 to 1"),
    "learner.learning_rate=fast": ("learner.learning_rate", "fast", NUMBER),
    "learner.precision=fp8": ("learner.precision", "fp8", "bfloat16"),
}
FOLDER = "the name of one folder"
#: Words that do not fit other settings: words -> (key, value, allowed).
DO_NOT_FIT = {
    "pit.num_games=3": ("pit.num_games", 3, "an even number, 2 or more"),
    "evaluation.num_games=5": ("evaluation.num_games", 5, "an even number, 0 or more"),
    "replay.window_start=20 replay.window_max=10": (
        "replay.window_start",
        20,
        "at most replay.window_max=10",
    ),
    "network=tiny network.kernel_size=4": ("network.kernel_size", 4, "at most 3"),
    "search.root=gumbel search.forced_playouts_k=2": ("search.forced_playouts_k", "2", None),
    "search.gumbel_scale=0.5": ("search.gumbel_scale", "0.5", None),
    "search.root=gumbel search.dirichlet_fraction=0.1": ("search.dirichlet_fraction", "0.1", None),
    "run.name=a/b": ("run.name", "a/b", FOLDER),
    "run.name=..": ("run.name", "..", FOLDER),
}
#: Words that do not fit the machine, or name no game: words -> what the message names.
NOT_HERE = {
    "device=quick": "device",
    "device=cuda:99": "device",
    "learner.learning_rate=nan": "learner.learning_rate",
    "game=custom": "your_game.py",
    "game.name=chess": "chess",
    "game.name=othello:7": "othello:7",
    "game=othello:7": "othello:7",
}


def refusal(words):
    """Return the error that the words of `alphazero train` end in; its message is one line."""
    with pytest.raises(ValueError) as caught:
        check_run(compose(words.split()))
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("words", REFUSED)
def test_bad_words_are_refused_with_key_value_and_what_is_allowed(words):
    error = refusal(words)
    key, value, allowed = REFUSED[words]
    assert isinstance(error, ConfigError)
    assert (error.key, error.value) == (key, value)
    assert error.allowed == allowed if allowed is None else allowed in error.allowed
    assert key in str(error)


@pytest.mark.parametrize("words", DO_NOT_FIT)
def test_values_that_do_not_fit_other_settings_are_refused(words):
    error = refusal(words)
    assert (error.key, error.value, error.allowed) == DO_NOT_FIT[words]
    assert error.key in str(error)


@pytest.mark.parametrize("off", ["search.forced_playouts_k=0", "search.dirichlet_fraction=0"])
def test_what_a_root_algorithm_does_not_use_may_be_turned_off_and_come_from_files(off):
    settings = compose(["game=connect_four", "search.root=gumbel"]).search
    assert settings.forced_playouts_k > 0  # the game's file proposes it
    assert compose(["game=connect_four", "search.root=gumbel", off]).search.root == "gumbel"


@pytest.mark.parametrize("words", NOT_HERE)
def test_values_that_do_not_fit_the_machine_or_name_no_game_are_refused(words):
    assert NOT_HERE[words] in str(refusal(words))


@pytest.mark.parametrize(
    "word, nearest",
    {
        "learner.learning_rat=1": "learner.learning_rate",
        "learning_rate=1": "learner.learning_rate",
        "lerner=adam": "learner",
        "sed=1": "seed",
        "learner.learn_rate=1e-3": "learner.learning_rate",
        "iterations=50": "run.num_iterations",
    }.items(),
)
def test_an_unknown_key_gets_the_most_similar_one(word, nearest):
    assert f"Did you mean {nearest}?" in str(refusal(word))


def test_several_values_for_a_key_point_at_the_sweep():
    for word in ("seed=1,2", "learner=adam,sgd"):
        assert "--multirun" in str(refusal(word))


def test_the_ends_of_a_range_are_inside():
    settings = compose("seed=0 selfplay.num_simulations=2 search.dirichlet_fraction=1.0".split())
    assert settings.search.dirichlet_fraction == 1.0
    settings = compose("seed=2147483647 evaluation.opening_plies=100".split())
    assert settings.seed == 2**31 - 1


# --- declaring and reading settings ---------------------------------------------------------------


@dataclasses.dataclass
class Inner:
    depth: int = option(3, "how deep", low=1, high=9)
    kind: str = option("a", "which", choices=("a", "b"))


@dataclasses.dataclass
class Outer:
    inner: Inner = section(Inner, "inside")
    share: float = option(0.5, "how much", low=0.0)
    shares: list[float] = option([0.1], "how much of each", high=1.0)
    name: str = option("", "what")
    limit: int | None = option(None, "how many", 1, 2**63 - 1)
    path: str | None = option(None, "where")
    exact: bool = option(False, "whether")
    names: list[str] = option([], "who")


def test_rows_tell_every_key_its_help_and_what_is_allowed():
    assert list(rows(Outer())) == [
        ("inner.depth", 3, "how deep", "1 to 9"),
        ("inner.kind", "a", "which", "one of a, b"),
        ("share", 0.5, "how much", "0 or more"),
        ("shares", [0.1], "how much of each", "1 or less"),
        ("name", "", "what", ""),
        ("limit", None, "how many", "1 to 2^63"),
        ("path", None, "where", ""),
        ("exact", False, "whether", ""),
        ("names", [], "who", ""),
    ]
    assert Outer().shares is not Outer().shares


def test_every_setting_of_a_run_has_a_line_of_help():
    for key, _, text, _ in rows(TrainSettings()):
        assert len(text) > 10, key


@pytest.mark.parametrize(
    "word, key, value",
    [
        ("inner.depth=9", "inner.depth", 9),
        ("inner.depth=09", "inner.depth", 9),
        ("inner.kind=b", "inner.kind", "b"),
        ("share=1e-3", "share", 0.001),
        ("share=2", "share", 2.0),
        ("shares=[0.5,1]", "shares", [0.5, 1.0]),
        ("shares=[ 0.5, 1e-3 ]", "shares", [0.5, 0.001]),
        ("shares=[]", "shares", []),
        ("limit=7", "limit", 7),
        ("limit=null", "limit", None),
        ("exact=true", "exact", True),
        ("exact=off", "exact", False),
        ("path=null", "path", None),
        ("name=", "name", ""),
        ("name=a=b", "name", "a=b"),
        ("name=on", "name", "on"),
        ("name=007", "name", "007"),
        ("name=uct:500,uct_c=0.7", "name", "uct:500,uct_c=0.7"),
        ("name=2 cores: no GPU, 16 GB", "name", "2 cores: no GPU, 16 GB"),
        ("name=gtp:/usr/games/rhino --level 4", "name", "gtp:/usr/games/rhino --level 4"),
        ("name=C:\\runs\\new run\\x.safetensors", "name", "C:\\runs\\new run\\x.safetensors"),
        ("name='a, b'", "name", "a, b"),
        ("name='a", "name", "'a"),
        ("names=[random,uct:1000,on]", "names", ["random", "uct:1000", "on"]),
        ("""names=["98.9 %: good", b]""", "names", ["98.9 %: good", "b"]),
    ],
)
def test_a_word_is_read_as_its_setting_says(word, key, value):
    settings = from_overrides(Outer, [word], "test")
    assert {row.key: row.value for row in rows(settings)}[key] == value
    others = {row.key: row.value for row in rows(settings) if row.key != key}
    assert others == {row.key: row.value for row in rows(Outer()) if row.key != key}


@pytest.mark.parametrize(
    "word, key, value, allowed",
    [
        ("inner.depth=10", "inner.depth", 10, "1 to 9"),
        ("inner.kind=c", "inner.kind", "c", "one of a, b"),
        ("inner.depht=1", "inner.depht", "1", list(types_of(Outer))),
        ("depth=1", "depth", "1", list(types_of(Outer))),
        ("share=much", "share", "much", "a number, 0 or more"),
        ("exact=2x", "exact", "2x", "true or false"),
        ("shares=[a]", "shares", ["a"], "a list such as [1,2], 1 or less"),
        ("shares={a: 1}", "shares", {"a": "1"}, "a list such as [1,2], 1 or less"),
        ("share", "share", None, None),
    ],
)
def test_a_bad_word_is_refused_with_key_value_and_what_is_allowed(word, key, value, allowed):
    with pytest.raises(ConfigError) as caught:
        from_overrides(Outer, [word], "test")
    error = caught.value
    assert (error.key, error.value, error.allowed) == (key, value, allowed)


def test_the_last_of_several_words_for_a_key_counts():
    assert from_overrides(Outer, ["share=1", "share=2"], "test").share == 2.0


@pytest.mark.parametrize(
    "text, values",
    [
        ("1", ["1"]),
        ("", [""]),
        ("1,2", ["1", "2"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ("'a,b',c", ["'a,b'", "c"]),
        ("{a,b}", ["{a,b}"]),
    ],
)
def test_values_are_split_at_commas_outside_brackets_and_quotes(text, values):
    assert split_values(text) == values


def test_plain_data_goes_round():
    settings = compose(["game=connect_four", "learner=sgd"])
    assert from_plain(TrainSettings, dataclasses.asdict(settings)) == settings
    assert from_plain(settings, {}) == settings
    changed = from_plain(settings, {"learner": {"batch_size": 7}})
    assert changed.learner.batch_size == 7 != settings.learner.batch_size
    with pytest.raises(ConfigError) as unknown:
        from_plain(TrainSettings, {"learner": {"foo": 1}})
    with pytest.raises(ConfigError) as stored:
        from_stored(TrainSettings, {"learner": {"foo": 1}}, "runs/x/config.yaml")
    for error in (unknown.value, stored.value):
        assert (error.key, error.value) == ("learner.foo", 1)
        assert "learner.batch_size" in error.allowed
    assert "runs/x/config.yaml" in str(stored.value)
    with pytest.raises(ConfigError) as broken:
        check(Outer(shares=[0.5, 1.5]))
    assert (broken.value.key, broken.value.value) == ("shares", [0.5, 1.5])


def test_settings_share_nothing_with_those_made_before():
    from_plain(Outer, {}).shares.append(0.5)
    assert from_plain(Outer, {}) == Outer()


def test_text_is_taken_as_it_is():
    text = "a${oc.env:HOME} ${nothing} ${"
    assert from_plain(Outer, {"name": text}).name == text
    assert from_overrides(Outer, [f"name={text}"], "test").name == text


@pytest.mark.parametrize("value", [5, None, [1], "x"])
def test_a_value_where_a_section_belongs_is_refused_by_its_key(value):
    with pytest.raises(ConfigError) as refused:
        from_plain(TrainSettings, {"learner": value})
    assert (refused.value.key, refused.value.value) == ("learner", value)
    assert "learner.batch_size" in refused.value.allowed


@pytest.mark.parametrize("text", ("1e3", "it's", "ä = b"))
def test_text_of_a_run_passes_hydra_as_it_is(text):
    assert compose([f"run.name={text}", "run.root=x"]).run.name == text


@pytest.mark.parametrize(
    "values",
    [
        {"inner": {"depth": True}},
        {"inner": {"depth": 2.0}},
        {"inner": {"depth": None}},
        {"share": False},
        {"share": [1.0]},
        {"shares": 0.5},
        {"shares": [True]},
        {"name": {"a": 1}},
        {"exact": 2},
        {"exact": 1.0},
    ],
)
def test_values_of_another_type_are_refused(values):
    with pytest.raises(ConfigError):
        from_plain(Outer, values)


def test_a_text_setting_without_a_value_is_refused():
    with pytest.raises(ConfigError) as refused:
        from_overrides(Outer, ["path="], "test")
    assert (refused.value.key, refused.value.value) == ("path", "")


def test_lists_within_lists_are_refused():
    with pytest.raises(ConfigError) as refused:
        from_overrides(Outer, ["shares=[[0.5]]"], "test")
    assert refused.value.key == "shares"
