# Recipes for `just`; every one is a plain command that works without it.

# Build the optimised program
build:
    cargo build --release

# Install nvcc in .cuda, for builds with kernels for NVIDIA GPUs
cuda-toolkit:
    .ci/cuda-toolkit

# Run all tests
test:
    cargo test

# Render a scene, for example: just render scenes/million.ron --frames 1
render scene="scenes/dragon_of_dragons.ron" *flags:
    cargo run --release -- render {{scene}} {{flags}}

# Format the code
fmt:
    cargo fmt

# What the gate checks before the tests
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# Measure
bench:
    cargo bench

# Build, check and time everything on a machine with a GPU, for example: just gpu-check compare bench
gpu-check *sections:
    scripts/gpu-check {{sections}}

# Try to break every promise of the program for an hour, for example: just torture --seconds 600 --only kills,disks
torture *flags:
    cargo build --release
    cargo run --release --example torture -- {{flags}}

# The same in two minutes, with the build of the tests
torture-short:
    cargo build
    cargo run --example torture -- --short

# Whether the fuzz target still compiles, with a stable compiler
fuzz-check:
    cargo check --manifest-path fuzz/Cargo.toml

# Make the files in assets/ again; they come out byte for byte the same
assets:
    cargo run --release --example make_animals
    cargo run --release --example make_textures
    cargo run --release --example make_link

# All that has to pass before a change is merged
ci:
    .ci/run
