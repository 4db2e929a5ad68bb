"""The web page of `alphazero serve`: its server, and in `static/` what runs in the browser.

In: HTTP requests, each of which holds a whole position. Out: positions, moves, analyses. The server
keeps nothing of a person's game, so a lost connection, a restart or a reload loses nothing.

    server -> app -> guard, streams, live    the outside: sockets, HTTP, who may ask
    backend                            the answers
    thinking -> network_search         the players, which search one position each
    exact_scores, review, misplayed    what solvers know
    position, catalogue, found_runs    what a request may name; `alphazero.play.requests` checks it
    run_charts -> run_rows                the figures of training runs, as they grow
"""
