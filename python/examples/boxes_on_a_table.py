"""Boxes on a table with annotations in COCO's format, for training a detector.

    python boxes_on_a_table.py out --pictures 20

Each picture has other positions of the boxes, and another camera. `out/coco.json` has a box, a mask and a category for each visible object.
"""

import argparse
import json
import pathlib

import numpy as np

import throng

CATEGORIES = ["red box", "green box", "blue box"]
COLORS = [(0.7, 0.08, 0.05), (0.1, 0.5, 0.12), (0.06, 0.15, 0.6)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--pictures", type=int, default=20)
    parser.add_argument("--boxes", type=int, default=12)
    parser.add_argument("--size", type=int, nargs=2, default=(640, 480))
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(args.seed)

    scene = throng.Scene()
    box = scene.mesh(*cuboid(), name="box")
    table = scene.mesh(*cuboid(), material=throng.Glossy(color=(0.35, 0.22, 0.13), roughness=0.6), name="table")
    scene.instances(table, placed((0, -0.05, 0), (1.6, 0.05, 1.0)))
    kinds = random.integers(len(CATEGORIES), size=args.boxes)
    paints = [throng.Glossy(color=color, roughness=0.3) for color in COLORS]
    # The ids of boxes are their annotations' numbers in a picture; the table has none.
    boxes = scene.instances(
        box, scattered(random, args.boxes), materials=[paints[kind] for kind in kinds], ids=np.arange(1, args.boxes + 1)
    )
    scene.environment("sky", elevation=35, intensity=0.6)
    scene.rect_light(position=(0.5, 2.5, 0.8), direction=(-0.2, -1, -0.3), size=(1, 1), intensity=(6, 5.6, 5))
    renderer = throng.Renderer(scene, args.device, samples=args.samples, layers=["instance"])

    coco = {"images": [], "annotations": [], "categories": [{"id": n + 1, "name": name} for n, name in enumerate(CATEGORIES)]}
    for number in range(args.pictures):
        boxes.matrices = scattered(random, args.boxes)
        angle, height = random.uniform(0, 2 * np.pi), random.uniform(0.8, 2.0)
        eye = (2.6 * np.cos(angle), height, 2.6 * np.sin(angle))
        frame = renderer.render(throng.Camera(eye=eye, target=(0, 0.1, 0), fov=38, size=tuple(args.size)))
        name = f"{number:04}.png"
        frame.save(args.out / name)
        coco["images"].append({"id": number, "file_name": name, "width": frame.size[0], "height": frame.size[1]})
        for index, kind in enumerate(kinds):
            mask = frame.instance == index + 1
            if mask.any():
                entry = {"id": len(coco["annotations"]) + 1, "image_id": number, "category_id": int(kind) + 1, "iscrowd": 0}
                coco["annotations"].append({**entry, **annotation(mask)})
    (args.out / "coco.json").write_text(json.dumps(coco))
    print(f"{args.pictures} pictures and {len(coco['annotations'])} annotations in {args.out}")


def cuboid():
    """A cube with edges of 2, whose faces have vertices of their own."""
    vertices, triangles = [], []
    for axis in range(3):
        for side in (-1, 1):
            corners = np.zeros((4, 3))
            corners[:, axis] = side
            corners[:, (axis + 1) % 3] = [-1, side, 1, -side]
            corners[:, (axis + 2) % 3] = [-side, -1, side, 1]
            triangles += [[len(vertices) + n for n in corner] for corner in ([0, 1, 2], [0, 2, 3])]
            vertices += corners.tolist()
    return np.array(vertices), np.array(triangles)


def placed(position, size, angle=0.0):
    cos, sin = np.cos(angle), np.sin(angle)
    matrix = np.eye(4)
    matrix[:3, :3] = np.array([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]]) * size
    matrix[:3, 3] = position
    return matrix


def scattered(random, count):
    """Boxes that stand on the table without touching each other."""
    matrices, places = [], []
    while len(matrices) < count:
        size = random.uniform(0.06, 0.16, 3)
        place = random.uniform((-1.3, -0.75), (1.3, 0.75))
        reach = np.hypot(size[0], size[2])
        if all(np.hypot(*(place - other)) > reach + far for other, far in places):
            places.append((place, reach))
            matrices.append(placed((place[0], size[1], place[1]), size, random.uniform(0, np.pi)))
    return np.stack(matrices)


def annotation(mask):
    """Box (left, top, width, height), area and uncompressed run lengths of a mask, column by column, as COCO has them."""
    rows, columns = np.nonzero(mask.any(1))[0], np.nonzero(mask.any(0))[0]
    flat = np.concatenate([[0], mask.ravel(order="F").astype(np.int8), [0]])
    edges = np.flatnonzero(np.diff(flat))
    counts = np.diff(np.concatenate([[0], edges, [mask.size]] if not edges.size or edges[-1] != mask.size else [[0], edges]))
    return {
        "bbox": [int(columns[0]), int(rows[0]), int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1)],
        "area": int(mask.sum()),
        "segmentation": {"size": list(mask.shape), "counts": counts.tolist()},
    }


if __name__ == "__main__":
    main()
