"""A crowd from a simulator's trajectories: a CSV file with the columns time, id, x, y, z and yaw.

    python crowd_from_csv.py tracks.csv out --model walker.glb

The scene file names the CSV file, so the command line also renders it: `throng render out/crowd.ron`. docs/scene/instances.md describes `Table`.
"""

import argparse
import pathlib
import shutil

import throng

SCENE = """(
    render: (size: ({width}, {height}), samples: {samples}, frames: {frames}, fps: {fps}),
    environment: SunSky(elevation: 40, azimuth: 60),
    materials: {{ "ground": Diffuse(color: "#b3a682") }},
    meshes: {{ "ground": Quad(), "walker": {walker} }},
    instances: [
        Single(of: "ground", scale: 100, material: "ground"),
        Table(of: "walker", file: "{tracks}", each: (rotate: (0, {turn}, 0))),
    ],
    camera: LookAt(eye: (0, 6, 12), target: (0, 0.5, 0), fov: 40),
)"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tracks", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, help="default: cones")
    parser.add_argument("--frames", type=int, default=96)
    parser.add_argument("--fps", type=int, default=24)
    parser.add_argument("--size", type=int, nargs=2, default=(640, 360))
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tracks = copied(args.tracks, args.out)
    walker, turn = "Cone(radius: 0.25, height: 1.7)", 0
    if args.model is not None:
        # A yaw counts from +X, and glTF models face +Z.
        walker, turn = f'Gltf(file: "{copied(args.model, args.out)}")', 90
    width, height = args.size
    text = SCENE.format(width=width, height=height, samples=args.samples, frames=args.frames, fps=args.fps, walker=walker, turn=turn, tracks=tracks)
    (args.out / "crowd.ron").write_text(text)

    scene = throng.Scene.open(args.out / "crowd.ron")
    count = throng.Renderer(scene, args.device).write(args.out / "####.png")
    print(f"{count} frames in {args.out}, of {len(scene.instance_names) - 1} walkers")


def copied(file: pathlib.Path, folder: pathlib.Path) -> str:
    """The name of a copy of a file in a folder."""
    if file.resolve().parent != folder.resolve():
        shutil.copy(file, folder)
    return file.name


if __name__ == "__main__":
    main()
