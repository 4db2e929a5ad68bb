"""The server behind the web page of `alphazero serve`; `static/` holds the files for the browser.

Each HTTP request contains a complete position, and the response describes positions, moves or
analyses. The server keeps no game state, so a lost connection, a restart or a reload loses nothing.
The modules, where an arrow means "calls":

    server -> app -> guard, streams          sockets, HTTP, access control
    backend                                  responses to requests, independent of HTTP
    thinking -> network_search               the players, each searching one position at a time
    exact_scores, review                     responses based on exact solvers
    position, catalogue, found_runs          the games, players and runs that requests may name
    run_charts -> run_rows                   the metrics of training runs, even unfinished ones

`alphazero.play.requests` defines and validates the requests.
"""
