"""What every test shares: the options of the command line, and compiled kernels that are kept between runs."""


def pytest_addoption(parser):
    parser.addoption(
        "--regenerate-playthroughs",
        action="store_true",
        help="write the golden playthroughs anew instead of comparing with them; read the difference before it is committed",
    )
