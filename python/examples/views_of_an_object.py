"""Views of an object for a 3D generator: transparent pictures from cameras on a sphere, transforms.json, and the object as mesh.ply in the same space.

    python views_of_an_object.py model.glb out --views 150 --size 512 --samples 128

Poses and vertices are written in the space in which the object fills the unit cube around the origin, with Y up. `transforms.json` is nerfstudio's
format: `transform_matrix` is world from camera with OpenGL's axes.
"""

import argparse
import json
import pathlib

import numpy as np

import throng


def directions(count: int) -> np.ndarray:
    """Directions spread evenly over a sphere: the spiral of Fibonacci."""
    index = np.arange(count) + 0.5
    height = 1 - 2 * index / count
    angle = np.pi * (1 + 5**0.5) * index
    radius = np.sqrt(1 - height * height)
    return np.stack([radius * np.cos(angle), height, radius * np.sin(angle)], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--views", type=int, default=150)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--fov", type=float, default=40.0, help="vertical, in degrees")
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    scene = throng.Scene.open(args.model)
    low, high = scene.bounds
    scale, center = 1 / (high - low).max(), (low + high) / 2
    vertices, triangles = scene.triangles()
    write_ply(args.out / "mesh.ply", (vertices - center) * scale, triangles)

    # The whole cube is in each view.
    distance = 3**0.5 / 2 / np.sin(np.radians(args.fov / 2))
    size = (args.size, args.size)
    cameras = [
        throng.Camera(eye=center + direction * distance / scale, target=center, fov=args.fov, size=size) for direction in directions(args.views)
    ]
    renderer = throng.Renderer(scene, args.device, samples=args.samples, transparent=True, denoise=False)
    frames = []
    for index, frame in enumerate(renderer.render_many(cameras)):
        name = f"{index:03}.png"
        frame.save(args.out / name)
        pose = frame.camera.pose("opengl")
        pose[:3, 3] = (pose[:3, 3] - center) * scale
        frames.append({"file_path": name, "transform_matrix": pose.tolist()})
    text = {"camera_angle_x": np.radians(args.fov), "aabb": [[-0.5] * 3, [0.5] * 3], "frames": frames}
    (args.out / "transforms.json").write_text(json.dumps(text, indent=1))
    print(f"{len(frames)} views in {args.out}")


def write_ply(path: pathlib.Path, vertices: np.ndarray, triangles: np.ndarray) -> None:
    header = (
        "ply\nformat binary_little_endian 1.0\n"
        f"element vertex {len(vertices)}\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    faces = np.empty(len(triangles), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, triangles
    path.write_bytes(header.encode() + vertices.astype("<f4").tobytes() + faces.tobytes())


if __name__ == "__main__":
    main()
