# throng with its scenes. `docker build -t throng .`, and then, with the NVIDIA container toolkit for GPUs:
# docker run --gpus all -u "$(id -u)" -v "$PWD:/data" throng render scenes/dragon_of_dragons.ron
FROM rust:1.95-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /throng
COPY . .
RUN .ci/cuda-toolkit && cargo build --release --locked --features usd --ignore-rust-version

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*
COPY --from=build /throng/target/release/throng /usr/local/bin/throng
COPY scenes /usr/local/share/throng/scenes
COPY assets /usr/local/share/throng/assets
# Computing, and encoding videos.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility,video
WORKDIR /data
ENTRYPOINT ["throng"]
