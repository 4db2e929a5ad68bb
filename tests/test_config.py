"""The settings: every choice composes, the published recipes hold their numbers, and what cannot be is refused by one plain sentence."""

import dataclasses
import itertools
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from alphazero.cli.train import compose, config_folder, groups
from alphazero.games.registry import make_game
from alphazero.runtime.settings import (
    ConfigError,
    check,
    from_overrides,
    from_plain,
    from_stored,
    option,
    rows,
    section,
)
from alphazero.training.settings import TrainSettings, check_run

EXAMPLE = str(Path(__file__).parents[1] / "examples" / "snort.py")
CHOICES = groups()


def words_for(game):
    return [f"game={game}", f"game.name={EXAMPLE}"] if game == "custom" else [f"game={game}"]


# --- everything composes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", CHOICES["game"])
def test_every_game_composes_with_every_experiment(game):
    for experiment in (None, *CHOICES["experiment"]):
        settings = compose(words_for(game) + ([f"experiment={experiment}"] if experiment else []))
        check_run(settings)
        assert settings.game.name == stored_value(f"game/{game}", "game.name") or game == "custom"
        assert make_game(settings.game.name).num_actions > 0


def stored_value(file, key):
    return OmegaConf.select(OmegaConf.load(config_folder() / f"{file}.yaml"), key)


@pytest.mark.parametrize(
    "group",
    [group for group in CHOICES if len(CHOICES[group]) > 1 and group not in ("game", "experiment")],
)
def test_a_chosen_group_has_its_values_whatever_the_game_proposes(group):
    for choice, game in itertools.product(CHOICES[group], ("tic_tac_toe", "connect_four")):
        settings = compose([f"game={game}", f"{group}={choice}"])
        stored = OmegaConf.to_container(OmegaConf.load(config_folder() / group / f"{choice}.yaml"))
        found = dataclasses.asdict(getattr(settings, group))
        assert {key: found[key] for key in stored} == stored


def test_words_win_over_experiments_and_experiments_over_games():
    assert compose(["experiment=connect_four_5min"]).game.name == "connect_four"
    assert compose(["experiment=connect_four_5min"]).selfplay.num_simulations == stored_value(
        "game/connect_four", "selfplay.num_simulations"
    )
    assert compose(["experiment=connect_four_5min"]).run.time_limit_s == 270
    assert compose(["experiment=dummy_run", "game=connect_four"]).selfplay.num_simulations == 8
    settings = compose(
        ["experiment=notebook_connect_four", "network=2x32", "selfplay.num_simulations=77"]
    )
    assert (
        settings.network.kind,
        settings.network.channels,
        settings.selfplay.num_simulations,
    ) == ("resnet", 32, 77)


def test_the_presets_are_what_their_names_say():
    lengths = {
        "5min": 300,
        "10min": 600,
        "20min": 1200,
        "1h": 3600,
        "3h": 10_800,
        "overnight": 28_800,
    }
    presets = [name for name in CHOICES["experiment"] if name.rpartition("_")[2] in lengths]
    assert len(presets) >= 10
    for name in presets:
        game, _, length = name.rpartition("_")
        settings = compose([f"experiment={name}"])
        assert settings.game.name == compose([f"game={game}"]).game.name
        assert 0.85 * lengths[length] < settings.run.time_limit_s < lengths[length]
    games = {
        choice: compose(words_for(choice)).game.name
        for choice in CHOICES["game"]
        if choice != "custom"
    }
    assert games == {
        "tic_tac_toe": "tic_tac_toe",
        "connect_four": "connect_four",
        "connect_x": "connect_x:5x5x4",
        "othello": "othello",
        "othello_6x6": "othello:6",
        "othello_4x4": "othello:4",
    }
    assert compose(["pit=off"]).pit.every == 0 < compose(["pit=on"]).pit.every
    assert compose([]).pit.acceptance == 0.55


def test_no_two_ablations_are_the_same_run():
    ways = {
        name: compose([f"experiment={name}"])
        for name in CHOICES["experiment"]
        if name.startswith("ablation/")
    }
    assert len(ways) > 20
    assert [(a, b) for a, b in itertools.combinations(ways, 2) if ways[a] == ways[b]] == []


def test_alphazeros_own_choices_are_the_papers():
    settings = compose(["game=othello", "search=alphazero", "selfplay=alphazero"])
    assert (settings.search.pb_c_init, settings.search.pb_c_base) == (1.25, 19652)
    assert (settings.search.dirichlet_alpha, settings.search.dirichlet_fraction) == (0.3, 0.25)
    assert (settings.search.first_play_urgency, settings.search.root_first_play_urgency) == (
        0.0,
        0.0,
    )
    assert settings.search.root_prior_temperature == 1.0
    assert settings.selfplay.full_search_fraction == 1.0


# --- the published recipes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, game, iterations, episodes, plies",
    (
        ("notebook_tic_tac_toe", "tic_tac_toe", 150, 5, 5),
        ("notebook_connect_four", "connect_four", 35, 25, 15),
    ),
)
def test_the_published_recipes_hold_their_numbers(name, game, iterations, episodes, plies):
    settings = compose([f"experiment={name}"])
    network, learner, selfplay = settings.network, settings.learner, settings.selfplay
    assert settings.game.name == game
    assert (network.kind, network.channels, network.kernel_size, network.shared_units) == (
        "tiny",
        16,
        2,
        32,
    )
    assert network.value_head == "scalar"
    assert (learner.optimizer, learner.learning_rate, learner.schedule, learner.weight_decay) == (
        "adam",
        3e-3,
        "constant",
        1e-4,
    )
    assert (
        learner.batch_size,
        learner.epochs,
        learner.root_value_fraction,
        learner.value_weight,
    ) == (
        64,
        10,
        0.0,
        1.0,
    )
    assert settings.replay.window_start == settings.replay.window_max == 200_000
    assert (settings.run.num_iterations, selfplay.games_per_iteration, selfplay.carry_over) == (
        iterations,
        episodes,
        False,
    )
    assert (
        selfplay.num_simulations,
        selfplay.full_search_fraction,
        settings.search.reuse_tree,
    ) == (
        200,
        1.0,
        True,
    )
    assert (selfplay.num_sampled_plies, selfplay.temperature, selfplay.final_temperature) == (
        plies,
        1.0,
        0.0,
    )
    assert selfplay.temperature_half_life == 0.0
    assert settings.search.dirichlet_fraction > 0
    assert settings.pit.every == 0
    assert settings.run.time_limit_s == 0


# --- what is refused --------------------------------------------------------------------------------------------------------------------

REFUSED = {
    "foo=1": "there is no setting 'foo'",
    "learner.learning_rat=1": r"there is no setting 'learner.learning_rat'. Did you mean learner.learning_rate\?",
    "+foo=1": r"there is no setting '\+foo'",
    "+learner.foo=1": r"there is no setting '\+learner.foo'",
    "~learner=adam": "there is no setting '~learner'",
    "=3": "there is no setting ''",
    "hydra.run.dir=x": "there is no setting 'hydra.run.dir'",
    "seed": "'seed' is not of the form key=value",
    "learner=rmsprop": "learner=rmsprop is not a choice of learner: take one of adam, adamw, default, muon, sgd",
    "experiment=typo": "experiment=typo is not a choice of experiment: take one of .*dummy_run",
    "game=chess": "game=chess is not a choice of game: take one of connect_four, .*tic_tac_toe",
    "game={}": "game={} is not a choice of game",
    "learner=sgd,adam": "learner=sgd,adam is not a choice of learner: .*--multirun",
    "seed=1,2": ".*'seed=1,2'.*--multirun",
    "seed=(": r".*'seed=\('",
    "seed=": "seed has a value of the wrong kind .*: it takes a whole number",
    "seed=null": "seed has a value of the wrong kind",
    "seed=-1": "seed=-1 is not allowed: seed takes 0 to 2147483647",
    "seed=${foo}": "seed has a value of the wrong kind",
    "selfplay.num_simulations=many": "selfplay.num_simulations has a value of the wrong kind .*: it takes a whole number",
    "selfplay.num_simulations=1.5": "selfplay.num_simulations has a value of the wrong kind .*: it takes a whole number",
    "selfplay.num_simulations=1": "selfplay.num_simulations=1 is not allowed: selfplay.num_simulations takes 2 to 1000000",
    "search.reuse_tree=perhaps": "search.reuse_tree has a value of the wrong kind .*: it takes true or false",
    "search.dirichlet_fraction=1.01": "search.dirichlet_fraction=1.01 is not allowed: search.dirichlet_fraction takes 0.0 to 1.0",
    "learner.learning_rate=nan": "learner.learning_rate=nan is not allowed",
    "learner.learning_rate=fast": "learner.learning_rate has a value of the wrong kind .*: it takes a number",
    "learner.precision=fp8": "learner.precision=fp8 is not allowed: learner.precision takes one of auto, float32, bfloat16",
    "learner.step_at=[0.5,2]": r"learner.step_at=\[0.5, 2.0\] is not allowed: learner.step_at takes 0.0 to 1.0",
    "learner.step_at=[a]": "learner.step_at has a value of the wrong kind .*: it takes a list",
    "learner.step_at=3": "learner.step_at has a value of the wrong kind .*: it takes a list",
    "pit.num_games=3": "pit.num_games=3 is not allowed: games come in pairs",
    "evaluation.num_games=5": "evaluation.num_games=5 is not allowed: games come in pairs",
    "evaluation.final_num_games=7": "evaluation.final_num_games=7 is not allowed: games come in pairs",
    "replay.window_max=10": "replay.window_start=5000 is not allowed: it must not exceed replay.window_max=10",
    "evaluation.opening_plies=9": "evaluation.opening_plies=9 is not allowed: a game of tic_tac_toe is over after 9 plies",
    "network=tiny network.kernel_size=4": "network.kernel_size=4 is not allowed: .* the board of tic_tac_toe, 3 by 3",
    "network=tiny network.ownership_head=true": "network.ownership_head=true is not allowed with network.kind=tiny: .*; use kind=resnet",
    "learner.replay_ratio=-1": "learner.replay_ratio=-1.0 is not allowed: learner.replay_ratio takes 0.0 to 1000.0",
    "pit=on pit.opening_plies=11": "pit.opening_plies=11 is not allowed: a game of tic_tac_toe is over after 9 plies",
    "run.name=a/b": "run.name=a/b is not allowed: it is the name of one folder",
    "run.name=..": "run.name=.. is not allowed: it is the name of one folder",
    "device=quick": "device=quick is not a device; use auto, cpu",
    "device=cuda:99": "device=cuda:99 is not on this machine",
    "game=custom": "there is no game file 'your_game.py'",
    "game.name=chess": "there is no game 'chess'; there are: tic_tac_toe",
    "game.name=othello:7": "'othello:7' is impossible: the board of Othello has a side of 4, 6 or 8",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_is_refused_by_one_sentence(words):
    with pytest.raises(ValueError, match=f"^{REFUSED[words]}") as caught:
        compose(words.split())
    message = str(caught.value)
    assert "\n" not in message and message.rstrip(")").endswith(".")


def test_the_ends_of_a_range_are_inside():
    for words in (
        "seed=0",
        "seed=2147483647",
        "selfplay.num_simulations=2",
        "search.dirichlet_fraction=1.0",
        "evaluation.opening_plies=8",
    ):
        compose([words])
    assert (
        compose(
            ["evaluation.opening_plies=9", "evaluation.num_games=0", "evaluation.final_num_games=0"]
        ).evaluation.opening_plies
        == 9
    )


# --- the machinery ------------------------------------------------------------------------------------------------------------------------


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


def test_rows_tell_every_key_its_help_and_what_is_allowed():
    assert list(rows(Outer())) == [
        ("inner.depth", 3, "how deep", "1 to 9"),
        ("inner.kind", "a", "which", "one of a, b"),
        ("share", 0.5, "how much", "0.0 or more"),
        ("shares", [0.1], "how much of each", "1.0 or less"),
        ("name", "", "what", ""),
    ]
    assert Outer().shares is not Outer().shares


def test_every_setting_of_a_run_has_a_line_of_help():
    for key, _, text, _ in rows(TrainSettings()):
        assert len(text) > 10, key


def test_words_become_checked_settings():
    settings = from_overrides(
        Outer, ["inner.depth=9", "share=1e-3", "shares=[0.5,1]", "name=a=b"], "test"
    )
    assert settings == Outer(Inner(9), 0.001, [0.5, 1.0], "a=b")
    for word, sentence in {
        "inner.depth=10": "inner.depth=10 is not allowed: inner.depth takes 1 to 9",
        "inner.kind=c": "inner.kind=c is not allowed: inner.kind takes one of a, b",
        "inner.depht=1": r"'test' has no setting 'inner.depht'. Did you mean inner.depth\?",
        "depth=1": r"'test' has no setting 'depth'. Did you mean inner.depth\?",
        "share=much": "share has a value of the wrong kind .*: it takes a number",
        "share": "'share' is not of the form key=value",
    }.items():
        with pytest.raises(ConfigError, match=f"^{sentence}"):
            from_overrides(Outer, [word], "test")


def test_plain_data_goes_round():
    settings = compose(["game=connect_four", "learner=sgd", "learner.step_at=[0.1,0.9]"])
    assert from_plain(TrainSettings, dataclasses.asdict(settings)) == settings
    with pytest.raises(ConfigError, match="^there is no setting 'learner.foo'"):
        from_plain(TrainSettings, {"learner": {"foo": 1}})
    with pytest.raises(
        ConfigError,
        match="^the settings in runs/x/config.yaml do not fit this version: there is no setting 'learner.foo'",
    ):
        from_stored(TrainSettings, {"learner": {"foo": 1}}, "runs/x/config.yaml")
    broken = Outer(shares=[0.5, 1.5])
    with pytest.raises(
        ConfigError, match=r"^shares=\[0.5, 1.5\] is not allowed: shares takes 1.0 or less"
    ):
        check(broken)


def test_the_ownership_head_needs_rules_that_give_a_board(tmp_path):
    source = Path(EXAMPLE).read_text()
    start = source.index("@rules.implement(Snort)\ndef cells")
    blind = tmp_path / "blind.py"
    blind.write_text(source[:start] + source[source.index("@rules.implement", start + 1) :])
    words = ["game=custom", f"game.name={blind}"]
    compose(words)
    with pytest.raises(ConfigError) as refused:
        compose([*words, "network.ownership_head=true"])
    assert refused.value.key == "network.ownership_head"
    assert "\n" not in str(refused.value)
    compose(["game=custom", f"game.name={EXAMPLE}", "network.ownership_head=true"])


def test_a_game_of_python_objects_is_refused_before_anything_starts(tmp_path, monkeypatch):
    pytest.importorskip("pettingzoo")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="can be played but not trained on"):
        compose(["game=custom", "game.name=pettingzoo:connect_four_v3"])
    assert not list(tmp_path.iterdir())
