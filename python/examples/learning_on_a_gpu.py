"""Pictures that stay on the GPU: a network learns how far away a body is, from new pictures in each step. Needs PyTorch and an NVIDIA GPU.

    python learning_on_a_gpu.py --steps 300

Frames go to PyTorch by DLPack, without a copy and without passing through the host.
"""

import argparse

import numpy as np
import torch

import throng


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="assets/bull.glb")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=64)
    args = parser.parse_args()
    random = np.random.default_rng(1)

    renderer = throng.Renderer(
        throng.Scene.open(args.model), "cuda:0", samples=4, denoise=False, layers=["depth"], size=(args.size, args.size), on_gpu=True
    )
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 5, 2), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 5, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(1)
    ).cuda()
    low, high = renderer.scene.bounds
    center, reach = (low + high) / 2, np.linalg.norm(high - low)
    network(torch.zeros(1, 3, args.size, args.size, device="cuda"))
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)

    losses = []
    for step in range(args.steps):
        directions = random.normal(size=(args.batch, 3)) * (1, 0.3, 1)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        distances = random.uniform(1, 3, args.batch) * reach
        cameras = [throng.Camera(eye=center + d * far, target=center, fov=40) for d, far in zip(directions, distances)]
        batch = renderer.render_batch(cameras)
        pictures = torch.from_dlpack(batch.srgb).permute(0, 3, 1, 2) / 255
        expected = torch.from_dlpack(batch.depth).amin((1, 2)) / reach
        loss = torch.nn.functional.mse_loss(network(pictures)[:, 0], expected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    first, last = np.mean(losses[:20]), np.mean(losses[-20:])
    print(f"squared error {first:.4f} in the first 20 steps, {last:.4f} in the last 20")


if __name__ == "__main__":
    main()
