# The page and the training, on a CPU:
#
#     docker build -t alphazero .
#     docker run --rm -it -p 8000:8000 -v alphazero:/home/alphazero alphazero
#     docker run --rm -it -v alphazero:/home/alphazero alphazero train experiment=connect_four_1min
#
# The first opens the page at the address that it prints, with localhost in place of the host. Runs
# and compiled kernels are kept in the volume. A plain torch for Linux includes CUDA, 5 GB that no
# CPU uses: give --build-arg TORCH_INDEX=ADDRESS, as docs/install.md says, to leave it out.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY scripts/package_readme.py scripts/
COPY configs configs
COPY checkpoints/best checkpoints/best
COPY alphazero alphazero
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

# What the development container needs besides; .devcontainer/devcontainer.json builds this stage.
FROM python:3.13-slim AS development
RUN apt-get update && apt-get install -y --no-install-recommends chromium git make nodejs npm \
    && rm -rf /var/lib/apt/lists/*

FROM python:3.13-slim
ARG TORCH_INDEX=""
COPY constraints.txt /
COPY --from=build /dist /dist
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir -c /constraints.txt --index-url "$TORCH_INDEX" torch; fi \
    && for wheel in /dist/*.whl; do \
        pip install --no-cache-dir -c /constraints.txt "$wheel[web]"; done \
    && useradd --create-home alphazero
USER alphazero
WORKDIR /home/alphazero
EXPOSE 8000
ENTRYPOINT ["alphazero"]
CMD ["serve", "host=0.0.0.0", "port=8000", "open=false"]
