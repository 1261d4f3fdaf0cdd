"""Compares throng with Blender's Cycles: small scenes are built in Blender, exported to glTF, and rendered by both.

    python -m pip install "bpy==4.5.*" numpy OpenEXR        # Blender as a Python module; it needs Python 3.11
    python examples/blender_check.py --throng target/release/throng [SCENE..] [--out FOLDER]

Scenes are `light`, `square`, `wide`, `upright` (apertures in pictures of these shapes), `shift`, `parent` (a camera whose parent is scaled
non-uniformly), `glass` and `moving`. The table shows differences between means of blocks of 16 x 16 pixels, relative to the mean of Cycles'
picture. Exits with 1 if a scene differs by more than noise explains. See docs/blender.md.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile

import bpy
import numpy as np
import OpenEXR
from mathutils import Matrix

BLOCK = 16
# Maximum 95th percentile of the differences that noise explains.
LIMIT = 0.05


def new_scene(size, samples):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    cycles = scene.cycles
    cycles.device, cycles.samples, cycles.seed = "CPU", samples, 1
    cycles.use_adaptive_sampling = cycles.use_denoising = False
    cycles.sample_clamp_direct = cycles.sample_clamp_indirect = cycles.blur_glossy = 0
    cycles.light_sampling_threshold = 0
    bounces = ("max_bounces", "diffuse_bounces", "glossy_bounces", "transmission_bounces")
    for name in bounces:
        setattr(cycles, name, 8)
    cycles.pixel_filter_type = "BOX"
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    world = bpy.data.worlds.new("world")
    scene.world, world.use_nodes = world, True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.25, 0.3, 0.4, 1)
    return scene


def material(name, color, roughness=0.8, emission=None, transmission=0.0):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    inputs = made.node_tree.nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = (*color, 1)
    inputs["Roughness"].default_value = roughness
    inputs["Transmission Weight"].default_value = transmission
    if emission:
        inputs["Emission Color"].default_value = (*emission, 1)
        inputs["Emission Strength"].default_value = 1
    return made


def place(kind, paint, **where):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**where)
    thing = bpy.context.object
    thing.data.materials.append(paint)
    if kind == "uv_sphere":
        bpy.ops.object.shade_smooth()
    return thing


def things():
    """A floor with boxes and balls in front of and behind the focus distance of 5 m."""
    paints = [material(f"paint {i}", color) for i, color in enumerate([(0.7, 0.1, 0.1), (0.1, 0.6, 0.15), (0.1, 0.2, 0.7)])]
    place("plane", material("floor", (0.5, 0.48, 0.45)), size=60)
    for i in range(9):
        across, along = (i % 3 - 1) * 1.1, 2.5 - 2.2 * (i // 3)
        paint = paints[i % 3]
        if i % 2:
            place("uv_sphere", paint, radius=0.4, location=(across, -along, 0.4), segments=64, ring_count=32)
        else:
            place("cube", paint, size=0.7, location=(across, -along, 0.35), rotation=(0, 0, 0.3 * i))


def camera(scene, lens=50.0, f_stop=None, shift=(0, 0), parent=None):
    data = bpy.data.cameras.new("camera")
    made = bpy.data.objects.new("camera", data)
    scene.collection.objects.link(made)
    scene.camera = made
    data.lens, data.shift_x, data.shift_y = lens, *shift
    if f_stop:
        data.dof.use_dof, data.dof.aperture_fstop, data.dof.focus_distance = True, f_stop, 5.0
    made.matrix_world = Matrix.Translation((0.3, -5.2, 1.6)) @ Matrix.Rotation(math.radians(78), 4, "X")
    if parent:
        holder = bpy.data.objects.new("holder", None)
        scene.collection.objects.link(holder)
        holder.scale = parent
        made.parent = holder
        made.location = tuple(x / s for x, s in zip((0.3, -5.2, 1.6), parent))
        made.rotation_euler = (math.radians(80), math.radians(20), math.radians(5))
    return made


def sun(scene):
    data = bpy.data.lights.new("sun", "SUN")
    data.energy, data.angle = 3, 0.02
    made = bpy.data.objects.new("sun", data)
    made.rotation_euler = (0.7, 0.3, 0)
    scene.collection.objects.link(made)


def lamps(scene):
    for kind, energy, where in (("POINT", 60, (-2, -2, 2)), ("SPOT", 150, (2, -3, 3))):
        data = bpy.data.lights.new(kind.lower(), kind)
        data.energy, data.shadow_soft_size = energy, 0
        made = bpy.data.objects.new(kind.lower(), data)
        made.location = where
        scene.collection.objects.link(made)
    # The exporter does not support area lights, so both render an emissive plane.
    place("plane", material("panel", (0, 0, 0), emission=(12, 11, 9)), size=1, location=(0, 0, 4), rotation=(math.pi, 0, 0))


def glass(scene):
    """A ball of solid glass. The exporter reads the thickness from a node group of this name."""
    paint = material("glass", (0.9, 1, 0.95), 0, transmission=1)
    group = bpy.data.node_groups.new("glTF Material Output", "ShaderNodeTree")
    group.interface.new_socket("Thickness", in_out="INPUT", socket_type="NodeSocketFloat")
    node = paint.node_tree.nodes.new("ShaderNodeGroup")
    node.node_tree = group
    node.inputs["Thickness"].default_value = 1.6
    place("uv_sphere", paint, radius=0.8, location=(0.2, -2.5, 0.8), segments=96, ring_count=48)


def moving(scene):
    """A moving ball and a camera that follows it, keyed at frames 1 and 25."""
    ball = place("uv_sphere", material("ball", (0.8, 0.4, 0.1)), radius=0.5, segments=64, ring_count=32)
    for frame, x in ((1, -2), (25, 2)):
        ball.location = (x, -2, 0.5)
        ball.keyframe_insert("location", frame=frame)
        scene.camera.location.x = 0.3 + 0.2 * x
        scene.camera.keyframe_insert("location", frame=frame)
    for thing in (ball, scene.camera):
        for curve in thing.animation_data.action.fcurves:
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    scene.frame_end, scene.render.fps = 25, 24
    scene.frame_set(13)


# Name: size, functions that add to the scene, camera options, and flags of throng.
SCENES = {
    "light": ((192, 108), [sun, lamps], {}, []),
    "square": ((128, 128), [sun], {"f_stop": 0.1}, ["--aperture", "0.1", "--focus", "5"]),
    "wide": ((192, 108), [sun], {"f_stop": 0.1}, ["--aperture", "0.1", "--focus", "5"]),
    "upright": ((96, 160), [sun], {"f_stop": 0.1}, ["--aperture", "0.1", "--focus", "5"]),
    "shift": ((160, 96), [sun], {"shift": (0.15, -0.2)}, ["--shift", "0.15,-0.2"]),
    "parent": ((144, 144), [sun], {"parent": (1, 2, 1.5)}, []),
    # Without the sun, whose caustics are sparse white specks in Cycles.
    "glass": ((128, 128), [glass], {}, []),
    "moving": ((192, 108), [sun, moving], {}, ["--animation", "all"]),
}


def export(path):
    bpy.ops.export_scene.gltf(
        filepath=path,
        export_cameras=True,
        export_lights=True,
        # "Unitless" keeps Blender's watts. "Standard" multiplies them by 683, the luminous efficacy of green light.
        export_import_convert_lighting_mode="COMPAT",
        export_animation_mode="SCENE",
        # Frame 1 is at 0 s, as in throng.
        export_anim_slide_to_zero=True,
        export_apply=True,
    )


def pixels(path):
    channels = OpenEXR.File(path, separate_channels=True).parts[0].channels
    found = {name.split(".")[-1]: channel.pixels for name, channel in channels.items() if name.split(".")[-1] in "RGB"}
    return np.stack([found[name] for name in "RGB"], -1).astype(float)


def blocks(image):
    height, width = (n // BLOCK * BLOCK for n in image.shape[:2])
    return image[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3).mean((1, 3))


def compare(name, options):
    size, parts, lens, flags = SCENES[name]
    scene = new_scene(size, options.samples)
    things()
    camera(scene, **lens)
    for part in parts:
        part(scene)
    model = os.path.join(options.out, f"{name}.glb")
    export(model)
    scene.render.filepath = os.path.join(options.out, f"{name}_cycles.exr")
    bpy.ops.render.render(write_still=True)
    ours = os.path.join(options.out, f"{name}_throng.exr")
    frame = str(scene.frame_current if moving in parts else 1)
    background = ",".join(str(x) for x in (0.25, 0.3, 0.4))
    command = [options.throng, "render", model, "-f", frame, "-o", ours, "--camera", "0", "--no-ground", "--environment", background]
    command += ["--size", f"{size[0]}x{size[1]}", "--samples", str(options.samples), "--bounces", "8", "--filter", "box"]
    command += ["--exposure", "0", "--integrator", "path", "--color-depth", "32", "--quiet", *flags, *options.more]
    subprocess.run(command, check=True)
    reference, found = blocks(pixels(scene.render.filepath)), blocks(pixels(ours))
    off = np.abs(found - reference).max(-1) / reference.mean()
    print(f"{name:8} {found.mean() / reference.mean():8.4f} {100 * np.median(off):9.2f} % {100 * np.quantile(off, 0.95):8.2f} % {100 * off.max():8.2f} %")
    return np.quantile(off, 0.95) <= LIMIT


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=f"some of {', '.join(SCENES)}; all if none is named")
    parser.add_argument("--throng", default="throng")
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--out", help="folder for models and pictures; a temporary one if left out")
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="further flags of throng, at the end")
    options = parser.parse_args()
    unknown = [name for name in options.scenes if name not in SCENES]
    if unknown:
        parser.error(f"there is no scene {unknown[0]}: they are {', '.join(SCENES)}")
    options.out = options.out or tempfile.mkdtemp()
    os.makedirs(options.out, exist_ok=True)
    print(f"{'scene':8} {'mean':>8} {'median':>11} {'p95':>10} {'max':>10}")
    held = [compare(name, options) for name in options.scenes or SCENES]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
