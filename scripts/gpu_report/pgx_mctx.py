"""pgx with mctx on a GPU: simulations/s over whole moves, for comparison.

Connect Four, an untrained 5x64 network in bfloat16, 200 simulations per move.
"""

import functools
import time

import jax
import jax.numpy as jnp
import mctx
import pgx

BLOCKS, CHANNELS, NUM_SIMULATIONS, NUM_MOVES = 5, 64, 200, 3
env = pgx.make("connect_four")
keys = iter(jax.random.split(jax.random.PRNGKey(0), 64))


def weights(*shape):
    """Return random weights of a shape whose last dimension is the outputs."""
    scale = (jnp.prod(jnp.array(shape[:-1]))) ** 0.5
    return (jax.random.normal(next(keys), shape) / scale).astype(jnp.bfloat16)


def convolution(x, kernel):
    """Convolve images with zero padding that keeps their size."""
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)


def network(params, observation):
    """Return prior logits and values."""
    x = jax.nn.relu(convolution(observation.astype(jnp.bfloat16), params["stem"]))
    for first, second in params["blocks"]:
        x = jax.nn.relu(x + convolution(jax.nn.relu(convolution(x, first)), second))
    features = x.reshape(x.shape[0], -1)
    logits, values = features @ params["policy"], (features @ params["value"])[:, 0]
    return logits.astype(jnp.float32), jnp.tanh(values.astype(jnp.float32))


def recurrent(params, key, action, state):
    """Step the games and evaluate them: the recurrent function of mctx."""
    player = state.current_player
    state = jax.vmap(env.step)(state, action)
    logits, value = network(params, state.observation)
    logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(jnp.float32).min)
    return mctx.RecurrentFnOutput(
        reward=state.rewards[jnp.arange(len(player)), player],
        discount=jnp.where(state.terminated, 0.0, -1.0),
        prior_logits=logits,
        value=jnp.where(state.terminated, 0.0, value),
    ), state


@functools.partial(jax.jit, static_argnums=0)
def move(policy, params, key, state):
    """Search a move in every game, and play it."""
    logits, value = network(params, state.observation)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    mask = ~state.legal_action_mask
    output = policy(params, key, root, recurrent, NUM_SIMULATIONS, invalid_actions=mask)
    return jax.vmap(env.step)(state, output.action)


params = {
    "stem": weights(3, 3, 2, CHANNELS),
    "blocks": [
        (weights(3, 3, CHANNELS, CHANNELS), weights(3, 3, CHANNELS, CHANNELS))
        for _ in range(BLOCKS)
    ],
    "policy": weights(42 * CHANNELS, 7),
    "value": weights(42 * CHANNELS, 1),
}
for num_games in (4096, 16384):
    for policy in (mctx.muzero_policy, mctx.gumbel_muzero_policy):
        state = jax.vmap(env.init)(jax.random.split(next(keys), num_games))
        state = jax.block_until_ready(move(policy, params, next(keys), state))  # compiles
        start = time.perf_counter()
        for _ in range(NUM_MOVES):
            state = move(policy, params, next(keys), state)
        jax.block_until_ready(state)
        speed = NUM_MOVES * NUM_SIMULATIONS * num_games / (time.perf_counter() - start)
        print(f"{policy.__name__}, {num_games:,} games: {speed:,.0f} simulations/s")
