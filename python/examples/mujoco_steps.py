"""A MuJoCo simulation, rendered step by step: `pip install mujoco`.

    python mujoco_steps.py out --frames 48

Meshes are sent once. Each step sends matrices, and only the acceleration structure over the instances is rebuilt.
"""

import argparse
import pathlib

import mujoco
import numpy as np

import throng

MODEL = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 0.1" rgba="0.55 0.5 0.45 1"/>
    {bodies}
  </worldbody>
</mujoco>
"""
BODY = """<body pos="{0:.3f} {1:.3f} {2:.3f}" euler="{3:.0f} {4:.0f} 0"><freejoint/>
<geom type="{5}" size="{6}" rgba="{7:.2f} {8:.2f} {9:.2f} 1" density="600"/></body>"""
Y_UP = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
SHAPES = [("box", "0.12 0.12 0.12"), ("ellipsoid", "0.14 0.1 0.1"), ("sphere", "0.12"), ("capsule", "0.08 0.1"), ("cylinder", "0.1 0.1")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--fps", type=int, default=24)
    parser.add_argument("--bodies", type=int, default=60)
    parser.add_argument("--size", type=int, nargs=2, default=(640, 480))
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    model = mujoco.MjModel.from_xml_string(pile(args.bodies))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)

    scene = throng.Scene()
    # One mesh and one list of instances for each kind of geometry.
    groups = []
    for kind in np.unique(model.geom_type):
        geoms = np.flatnonzero(model.geom_type == kind)
        mesh = scene.mesh(**shape(kind))
        paints = [throng.Glossy(color=model.geom_rgba[geom, :3], roughness=0.35) for geom in geoms]
        groups.append((geoms, scene.instances(mesh, matrices(model, data, geoms), materials=paints, ids=geoms)))
    scene.environment("sky", elevation=40)
    renderer = throng.Renderer(scene, args.device, samples=args.samples)
    camera = throng.Camera(eye=(2.4, 1.7, 2.6), target=(0, 0.3, 0), fov=40, size=tuple(args.size))

    for number in range(args.frames):
        while data.time < number / args.fps:
            mujoco.mj_step(model, data)
        for geoms, instances in groups:
            instances.matrices = matrices(model, data, geoms)
        renderer.render(camera).save(args.out / f"{number:04}.png")
    print(f"{args.frames} frames in {args.out}")


def pile(count: int) -> str:
    random = np.random.default_rng(3)
    bodies = []
    for index in range(count):
        position = (*random.uniform(-0.35, 0.35, 2), 0.4 + 0.25 * index)
        kind, size = SHAPES[index % len(SHAPES)]
        bodies.append(BODY.format(*position, *random.uniform(0, 360, 2), kind, size, *random.uniform(0.1, 0.8, 3)))
    return MODEL.format(bodies="".join(bodies))


def matrices(model, data, geoms):
    """World from object: (n, 3, 4). Meshes have unit size, except the capsule. MuJoCo's Z points up, and throng's Y."""
    out = np.zeros((len(geoms), 3, 4))
    out[:, :, :3] = data.geom_xmat[geoms].reshape(-1, 3, 3) * scales(model, geoms)[:, None]
    out[:, :, 3] = data.geom_xpos[geoms]
    return Y_UP @ out


def scales(model, geoms):
    size = model.geom_size[geoms]
    kind = model.geom_type[geoms[0]]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return size[:, [0, 0, 0]]
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return size[:, [0, 0, 1]]
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return np.ones_like(size)
    if kind == mujoco.mjtGeom.mjGEOM_PLANE:
        return np.column_stack([size[:, :2], np.ones(len(size))])
    return size


def shape(kind):
    """Vertices, triangles and normals of a kind of geometry, of unit size."""
    if kind == mujoco.mjtGeom.mjGEOM_PLANE:
        return {"vertices": [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], "triangles": [(0, 1, 2), (0, 2, 3)]}
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return {"vertices": corners, "triangles": [corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))]}
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        # Rings with two normals have sharp edges.
        profile = np.array([(0, -1), (1, -1), (1, -1), (1, 1), (1, 1), (0, 1)])
        return revolved(profile, np.array([(0, -1), (0, -1), (1, 0), (1, 0), (0, 1), (0, 1)]))
    angles = np.linspace(-np.pi / 2, np.pi / 2, 26)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return revolved(circle * 0.08 + np.where(circle[:, 1:] < 0, [0, -0.1], [0, 0.1]), circle)
    return revolved(circle, circle)


def revolved(profile, normals, steps=48):
    """The surface that a profile of (radius, height) sweeps around Z."""
    turn = np.arange(steps) * 2 * np.pi / steps

    def rings(points):
        return np.concatenate([np.column_stack([r * np.cos(turn), r * np.sin(turn), np.full(steps, z)]) for r, z in points])

    triangles = []
    for ring in range(len(profile) - 1):
        for step in range(steps):
            a, b = ring * steps + step, ring * steps + (step + 1) % steps
            triangles += [(a, b, b + steps), (a, b + steps, a + steps)]
    return {"vertices": rings(profile), "triangles": triangles, "normals": rings(normals)}


if __name__ == "__main__":
    main()
