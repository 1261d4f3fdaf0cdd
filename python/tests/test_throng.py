"""Tests of the module as it is installed: `python -m unittest discover -s python/tests`.

$THRONG is the command line to compare with (default: that of the module), and $THRONG_ASSETS the folder with link.obj.
"""

import gc
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import throng

ASSETS = pathlib.Path(os.environ.get("THRONG_ASSETS", pathlib.Path(__file__).parents[2] / "assets"))
LINK = ASSETS / "link.obj"
PROGRAM = [os.environ["THRONG"]] if "THRONG" in os.environ else [sys.executable, "-m", "throng"]

CUBE = np.float32([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
FACES = np.int64(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def at(*position):
    matrix = np.eye(4)
    matrix[:3, 3] = position
    return matrix


def cubes(*positions, **options):
    scene = throng.Scene()
    cube = scene.mesh(CUBE, FACES, material=throng.Diffuse(color=(0.8, 0.2, 0.1)))
    placed = scene.instances(cube, np.stack([at(*p) for p in positions]), **options)
    scene.environment("sky", elevation=40)
    return scene, placed


def straight(width=64, height=48, z=10.0, **fields):
    """A camera on the Z axis that looks at the origin."""
    K = [[60, 0, width / 2], [0, 60, height / 2], [0, 0, 1]]
    pose = at(0, 0, z) @ np.diag([1, -1, -1, 1])
    return throng.Camera(K=K, world_from_camera=pose, size=(width, height), **fields)


def renderer(scene, **options):
    return throng.Renderer(scene, **{"device": "cpu", "samples": 1, "denoise": False, **options})


class Pictures(unittest.TestCase):
    def test_arrays_are_the_bits_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--size", "64x48", "--samples", "4", "--denoise", "off", "--device", "cpu", "-f", "1", "-q"]
            for name in ("a1.png", "a1.exr"):
                subprocess.run([*PROGRAM, "render", LINK, *flags, "-o", f"{folder}/{name}".replace("1.", "#.")], check=True)
            frame = throng.Renderer(throng.Scene.open(LINK), device="cpu", size=(64, 48), samples=4, denoise=False).render()
            for name in ("a1.png", "a1.exr"):
                frame.save(f"{folder}/same-{name}")
                own, same = (pathlib.Path(folder, file).read_bytes() for file in (name, f"same-{name}"))
                # The rest of a PNG is metadata, such as that radiance was kept.
                self.assertTrue(own.partition(b"IDAT")[2] == same.partition(b"IDAT")[2] if "png" in name else own == same, name)
            self.assertEqual((frame.srgb.dtype, frame.srgb.shape), (np.uint8, (48, 64, 3)))
            self.assertEqual((frame.linear.dtype, frame.linear.shape), (np.float32, (48, 64, 3)))

    def test_many_cameras_are_one_camera_each_with_the_noise_of_its_number(self):
        scene, _ = cubes((0, 0, 0))
        cameras = [straight(z=z) for z in (8, 10, 12)]
        own = renderer(scene)
        frames = list(own.render_many(cameras))
        self.assertEqual([frame.number for frame in frames], [1, 2, 3])
        self.assertIs(frames[2].camera, cameras[2])
        self.assertTrue((own.render(cameras[0]).linear == frames[0].linear).all())
        self.assertFalse((frames[0].linear == frames[1].linear).all())

    def test_a_size_is_that_of_its_call(self):
        scene, _ = cubes((0, 0, 0))
        own = renderer(scene)
        usual = own.render().size
        self.assertEqual(own.render(size=(32, 16)).size, (32, 16))
        self.assertEqual(own.render().size, usual)

    def test_transparent_pictures_have_an_alpha(self):
        scene, _ = cubes((0, 0, 0))
        frame = renderer(scene, transparent=True).render(straight())
        self.assertEqual(frame.srgb.shape, (48, 64, 4))
        self.assertEqual((frame.srgb[0, 0, 3], frame.srgb[24, 32, 3]), (0, 255))

    def test_files_are_those_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--size", "64x48", "--samples", "4", "--denoise", "off", "--device", "cpu", "-f", "2-3", "-q"]
            subprocess.run([*PROGRAM, "render", LINK, *flags, "-o", f"{folder}/a#.png"], check=True)
            own = throng.Renderer(throng.Scene.open(LINK), device="cpu", size=(64, 48), samples=4, denoise=False)
            self.assertEqual(own.write(f"{folder}/b#.png", frames=[2, 3]), 2)
            for number in (2, 3):
                same, files = (pathlib.Path(folder, f"{name}{number}.png").read_bytes() for name in "ab")
                self.assertEqual(same, files)
            scene, _ = cubes((0, 0, 0))
            own, cameras = renderer(scene), [straight(z=z) for z in (8, 10, 12)]
            self.assertEqual(own.write(f"{folder}/c#.png", cameras), 3)
            self.assertEqual(own.write(f"{folder}/c#.png", cameras, skip_existing=True), 0)
            own.render(cameras[2]).save(f"{folder}/third.png")
            pixels = [pathlib.Path(folder, name).read_bytes().partition(b"IDAT")[2] for name in ("c3.png", "third.png")]
            self.assertFalse(pixels[0] == pixels[1])
            list(own.render_many(cameras))[2].save(f"{folder}/third.png")
            self.assertEqual(pixels[0], pathlib.Path(folder, "third.png").read_bytes().partition(b"IDAT")[2])
            own.write(f"{folder}/d#.png", cameras[:1], labels="depth,transforms")
            depth = np.load(f"{folder}/d1.depth.npy")
            self.assertEqual((depth.shape, depth.dtype), ((48, 64), np.float32))
            self.assertTrue(pathlib.Path(folder, "transforms.json").exists())
            with self.assertRaisesRegex(throng.Error, "bmp"):
                own.write(f"{folder}/c.bmp")

    def test_progress_counts_frames_and_may_end_the_work(self):
        scene, _ = cubes((0, 0, 0))
        seen = []
        own = renderer(scene, progress=lambda done, count: seen.append((done, count)))
        frames = own.render_many([straight()] * 3)
        self.assertEqual(len(frames), 3)
        list(frames)
        self.assertEqual((seen[-1], sorted(seen) == seen), ((3.0, 3), True))

        def end(done, count):
            raise KeyError("enough")

        with self.assertRaises(KeyError):
            renderer(scene, progress=end).render(straight())

    def test_frames_of_an_animation(self):
        scene = throng.Scene.open(LINK)
        self.assertEqual((scene.frames[0], len(scene.frames), scene.fps), (1, 72, 24.0))
        frames = renderer(scene, size=(32, 32)).render_frames([1, 30])
        first, later = (frame.srgb for frame in frames)
        self.assertFalse((first == later).all())


class Layers(unittest.TestCase):
    def test_points_from_depth_lie_on_the_surface(self):
        scene, _ = cubes((0, 0, 0), (3, 1, -2))
        camera = straight()
        # Samples are in the middle of their pixels, to a twentieth of one.
        own = renderer(scene, layers=["depth", "instance", "position"], filter="box", filter_width=0.1)
        frame = own.render(camera)
        hit = np.isfinite(frame.depth)
        self.assertEqual((frame.instance >= 0).tolist(), hit.tolist())
        v, u = np.nonzero(hit)
        from_world = np.linalg.inv(camera.world_from_camera)
        seen = frame.position[hit] @ from_world[:3, :3].T + from_world[:3, 3]
        self.assertLess(np.abs(seen[:, 2] / frame.depth[hit] - 1).max(), 1e-5)
        x, y = project(seen, camera, {})
        self.assertLess(np.hypot(x - u - 0.5, y - v - 0.5).max(), 0.08)
        # Rays to these points hit them.
        origin = camera.world_from_camera[:3, 3]
        directions = frame.position[hit] - origin
        hits = own.trace(np.broadcast_to(origin, directions.shape), directions)
        self.assertLess(np.abs(hits.distance - 1).max(), 1e-5)
        self.assertTrue((hits.instance == frame.instance[hit]).all())
        self.assertTrue(own.occluded(np.broadcast_to(origin, directions.shape), directions, np.full(len(directions), 1.1)).all())
        self.assertFalse(own.occluded(np.broadcast_to(origin, directions.shape), directions, np.full(len(directions), 0.9)).any())

    def test_instances_have_numbers_and_names(self):
        scene, _ = cubes((-2, 0, 0), (2, 0, 0))
        frame = renderer(scene, layers=["instance", "material"]).render(straight())
        self.assertEqual(sorted(set(frame.instance.ravel().tolist())), [-1, 0, 1])
        self.assertEqual(frame.instance[24, 20], 0)
        self.assertEqual(frame.instance[24, 44], 1)
        self.assertEqual(len(scene.instance_names), 2)
        self.assertIn("material0", scene.material_names[frame.material[24, 20]])

    def test_ids_stand_for_instances(self):
        scene, _ = cubes((-2, 0, 0), (2, 0, 0), ids=[70, 7])
        scene.instances(scene.mesh(CUBE, FACES), at(0, 3, 0))
        own = renderer(scene, layers=["instance"])
        frame = own.render(straight())
        self.assertEqual(sorted(set(frame.instance.ravel().tolist())), [-1, 2, 7, 70])
        self.assertEqual(frame.instance[24, 20], 70)
        self.assertEqual(own.trace([(2, 0, 9), (0, 0, 9)], [(0, 0, -1)] * 2).instance.tolist(), [7, -1])
        for ids in ([1], [-1, 2], [0.5, 1]):
            with self.assertRaisesRegex(ValueError, "ids"):
                cubes((-2, 0, 0), (2, 0, 0), ids=ids)

    def test_missing_layers_are_named(self):
        scene, _ = cubes((0, 0, 0))
        with self.assertRaisesRegex(ValueError, r"layers=\['depth'\]"):
            renderer(scene).render(straight()).depth

    def test_flow_points_to_where_things_are_in_the_next_view(self):
        scene, _ = cubes((0, 0, 0))
        left = straight()
        shifted = throng.Camera(K=left.K, world_from_camera=at(1, 0.5, 10) @ np.diag([1, -1, -1, 1]), size=left.size)
        first, _ = renderer(scene, layers=["flow", "depth"]).render_many([left, shifted])
        # The camera moves right and up by (1, 0.5), so the cube moves left and down by as much at its depth.
        depth = first.depth[24, 32]
        expected = 60 / depth * np.array([-1.0, 0.5])
        self.assertLess(np.abs(first.flow[24, 32] - expected).max(), 0.05, first.flow[24, 32])


class Cameras(unittest.TestCase):
    def test_conventions_are_the_same_camera(self):
        scene, _ = cubes((0, 0.5, 0))
        opencv = straight()
        opengl = throng.Camera(K=opencv.K, world_from_camera=at(0, 0, 10), size=opencv.size, convention="opengl")
        looking = throng.Camera(K=opencv.K, eye=(0, 0, 10), target=(0, 0, 0), size=opencv.size)
        own = renderer(scene)
        pictures = [own.render(camera).srgb for camera in (opencv, opengl, looking)]
        self.assertTrue((pictures[0] == pictures[1]).all() and (pictures[0] == pictures[2]).all())

    def test_distorted_points_are_where_the_model_puts_them(self):
        places = np.array([(x, y, 0.0) for x in (-12, 0, 12) for y in (-9, 0, 9)])
        scene, _ = cubes(*places)
        for lens in ({"distortion": (-0.25, 0.08, 0.003, -0.002, 0.01)}, {"fisheye": (0.05, -0.02, 0.004, -0.001)}, {}):
            camera = throng.Camera(
                K=[[400, 0, 330], [0, 410, 250], [0, 0, 1]], world_from_camera=at(0, 0, 20) @ np.diag([1, -1, -1, 1]), size=(640, 480), **lens
            )
            frame = renderer(scene, layers=["instance", "position"], filter="box", filter_width=0.1).render(camera)
            for index, place in enumerate(places):
                seen = frame.instance == index
                self.assertGreater(seen.sum(), 50)
                v, u = np.nonzero(seen)
                world = frame.position[seen] - np.float32([0, 0, 20])
                x, y = project(world * [1, -1, -1], camera, lens)
                # Samples are in the middle of their pixels, to a twentieth of one.
                error = np.hypot(x - (u + 0.5), y - (v + 0.5))
                self.assertLess(error.max(), 0.08, (lens, place))

    def test_poses_in_either_convention(self):
        camera = straight()
        self.assertTrue(np.allclose(camera.pose("opencv"), camera.world_from_camera))
        opengl = throng.Camera(K=camera.K, world_from_camera=camera.pose("opengl"), size=camera.size, convention="opengl")
        self.assertTrue(np.allclose(opengl.pose(), camera.world_from_camera))
        self.assertTrue(np.allclose(camera.pose("opengl"), at(0, 0, 10)))

    def test_wrong_cameras_are_refused(self):
        K, pose = np.diag([60.0, 60.0, 1.0]), np.eye(4)
        size = (64, 48)
        for message, make in [
            ("convention", lambda: throng.Camera(K, pose, size, "blender")),
            ("size", lambda: throng.Camera(K, pose)),
            (r"\(3, 3\)", lambda: throng.Camera(np.eye(4), pose, size)),
            ("finite", lambda: throng.Camera(K, pose * np.nan, size)),
            ("mirrors", lambda: throng.Camera(K, np.diag([-1.0, 1, 1, 1]), size)),
            ("rotation", lambda: throng.Camera(K, np.diag([1.0, 2, 1, 1]), size)),
            ("focal", lambda: throng.Camera(-K, pose, size)),
            ("exclude", lambda: throng.Camera(K, pose, size, fov=40)),
            ("same point", lambda: throng.Camera(eye=(1, 2, 3), target=(1, 2, 3))),
            ("along up", lambda: throng.Camera(eye=(0, 5, 0))),
            ("either", lambda: throng.Camera(K, size=size)),
            ("distortion has the shape", lambda: throng.Camera(K, pose, size, distortion=(1, 2, 3))),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                make()


def project(points, camera, lens):
    """Image of points in the camera's space (x right, y down, z ahead), by OpenCV's formulas."""
    x, y, z = points.T
    if "fisheye" in lens:
        k = lens["fisheye"]
        r = np.hypot(x, y)
        t = np.arctan2(r, z)
        s = t * (1 + k[0] * t**2 + k[1] * t**4 + k[2] * t**6 + k[3] * t**8) / np.maximum(r, 1e-12)
        x, y = x * s, y * s
    else:
        x, y = x / z, y / z
        k1, k2, p1, p2, k3 = lens.get("distortion", (0,) * 5)
        r2 = x * x + y * y
        radial = 1 + k1 * r2 + k2 * r2**2 + k3 * r2**3
        x, y = x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
    return camera.K[0, 0] * x + camera.K[0, 2], camera.K[1, 1] * y + camera.K[1, 2]


class Scenes(unittest.TestCase):
    def test_instances_may_have_materials_of_their_own(self):
        red, green = throng.Emissive(radiance=(1, 0, 0)), throng.Emissive(radiance=(0, 1, 0))
        scene, _ = cubes((-2, 0, 0), (2, 0, 0), materials=[red, green])
        linear = renderer(scene).render(straight()).linear
        self.assertGreater(linear[24, 20, 0], linear[24, 20, 1])
        self.assertGreater(linear[24, 44, 1], linear[24, 44, 0])

    def test_instances_move_while_their_scene_stays(self):
        scene, placed = cubes((0, 0, 0), (3, 0, 0))
        own = renderer(scene, layers=["instance"])
        before = own.render(straight())
        moved = np.stack([at(0, 0, 0), at(-3, 0, 0)])
        placed.matrices = moved
        after = own.render(straight())
        self.assertTrue((after.instance[:, :20] == 1).any() and not (before.instance[:, :20] == 1).any())
        same, _ = cubes((0, 0, 0), (-3, 0, 0))
        self.assertTrue((renderer(same).render(straight()).linear == after.linear).all())
        self.assertEqual(own.trace([(-3, 0, 10)], [(0, 0, -1)]).instance.tolist(), [1])
        placed.matrices = np.stack([at(0, 0, 0), at(3, 0, 0)])
        self.assertTrue((own.render(straight()).linear == before.linear).all())
        with self.assertRaisesRegex(ValueError, "2 instances"):
            placed.matrices = moved[:1]
        with self.assertRaisesRegex(ValueError, r"matrices\[1\] is not finite"):
            placed.matrices = np.stack([at(0, 0, 0), at(np.nan, 0, 0)])
        with self.assertRaisesRegex(ValueError, "read-only"):
            placed.matrices[0] = 0

    def test_pictures_are_textures_and_environments(self):
        def picture(texture, environment, **fields):
            scene = throng.Scene()
            square = scene.mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)], uvs=[(0, 0), (1, 0), (1, 1), (0, 1)],
                                material=throng.Emissive(radiance=(1, 1, 1), texture=texture, **fields))
            scene.instances(square, np.diag([3, 3, 1, 1]))
            scene.environment(environment)
            return renderer(scene).render(straight()).linear

        # Red above, green below.
        texels = np.zeros((2, 1, 3), np.uint8)
        texels[0, 0, 0], texels[1, 0, 1] = 255, 255
        panorama = np.full((4, 8, 3), 0.25, np.float32)
        linear = picture(texels, panorama, wrap="clamp")
        self.assertTrue(np.allclose(linear[10, 32], [1, 0, 0], atol=0.01), linear[10, 32])
        self.assertTrue(np.allclose(linear[38, 32], [0, 1, 0], atol=0.01), linear[38, 32])
        self.assertTrue(np.allclose(linear[24, 2], 0.25, atol=1e-6), linear[24, 2])
        # Floats are linear, grey is all colours, and a file is the same picture.
        self.assertTrue(np.allclose(picture(np.full((1, 1), 3.5), panorama)[24, 32], 3.5))
        stone = ASSETS / "stone.png"
        if stone.exists() and "PIL" in sys.modules:
            from PIL import Image

            self.assertTrue((picture(Image.open(stone), panorama) == picture(stone, panorama)).all())
        scene = throng.Scene()
        glass = throng.Pbr(base_color=(0.2, 0.4, 0.6), base_color_texture=texels, alpha="blend", opacity=0.5, wrap="clamp")
        scene.instances(scene.mesh(CUBE, FACES, material=glass))
        scene.instances(scene.mesh(CUBE, FACES, uvs=np.zeros((8, 2)), material=throng.Pbr(base_color_texture=texels, alpha=0.5)), at(3, 0, 0))
        self.assertLess(renderer(scene, layers=["alpha"], samples=64).render(straight()).alpha[24, 32], 1)
        for message, texture in [("uint8", np.zeros((2, 2), np.int64)), ("channels", np.zeros((2, 2, 2), np.uint8)), ("shape", np.zeros((1, 2, 2, 3)))]:
            with self.assertRaisesRegex(ValueError, message):
                picture(texture, panorama)
        with self.assertRaisesRegex(throng.Error, "not finite"):
            picture(np.full((1, 1, 3), np.nan), panorama)
        with self.assertRaisesRegex(throng.Error, "empty"):
            picture(texels, np.zeros((0, 4, 3)))

    def test_scenes_have_bounds_and_triangles(self):
        scene, _ = cubes((0, 0, 0), (3, 1, -2))
        self.assertEqual(scene.bounds.tolist(), [[-1, -1, -3], [4, 2, 1]])
        vertices, triangles = scene.triangles()
        self.assertEqual((vertices.shape, triangles.shape, triangles.max()), ((16, 3), (24, 3), 15))
        self.assertTrue((vertices[8:] == CUBE + np.float32([3, 1, -2])).all())
        # The ground of a model is not part of it.
        model = throng.Scene.open(LINK)
        self.assertTrue((model.triangles()[0].min(0) == model.bounds[0]).all())
        self.assertLess(np.ptp(model.bounds, axis=0).max(), 10)

    def test_wrong_arrays_are_refused(self):
        scene = throng.Scene()
        cube = scene.mesh(CUBE, FACES)
        for message, work in [
            (r"\(n, 3, 4\)", lambda: scene.instances(cube, np.zeros((2, 3)))),
            ("one material", lambda: scene.instances(cube, at(0, 0, 0), materials=[throng.Mirror()] * 2)),
            ("whole numbers", lambda: scene.mesh(CUBE, FACES - 1)),
            ("whole numbers", lambda: scene.mesh(CUBE, FACES + 0.5)),
            ("no array", lambda: scene.mesh("cube", FACES)),
            ("another name", lambda: [scene.mesh(CUBE, FACES, name="a") for _ in range(2)]),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                work()
        for message, arrays in [
            (r"\(n, 3\)", {"vertices": CUBE[:, :2]}),
            ("8 vertices", {"triangles": FACES + 1}),
            ("normals", {"normals": CUBE[:3]}),
            ("vertices.4. is not finite", {"vertices": np.where(np.arange(8)[:, None] == 4, np.nan, CUBE)}),
            ("no triangles", {"triangles": FACES[:0]}),
        ]:
            scene = throng.Scene()
            scene.instances(scene.mesh(**{"vertices": CUBE, "triangles": FACES, **arrays}))
            with self.assertRaisesRegex(ValueError, message):
                renderer(scene)
        scene, _ = cubes((np.inf, 0, 0))
        with self.assertRaisesRegex(throng.Error, "transform 0 is not finite"):
            renderer(scene)

    def test_arrays_of_any_layout_are_copied(self):
        def picture(vertices, change):
            scene = throng.Scene()
            scene.instances(scene.mesh(vertices, FACES), np.eye(4)[None])
            scene.environment("sky")
            own = renderer(scene)
            change(vertices)
            return own.render(straight()).linear

        plain = picture(CUBE.copy(), lambda vertices: None)
        padded = np.zeros((8, 6), np.float32)
        padded[:, ::2] = CUBE
        for vertices in (np.asfortranarray(CUBE), padded[:, ::2], CUBE.astype(np.float64)):
            self.assertTrue((picture(vertices, lambda vertices: vertices.fill(0)) == plain).all())

    def test_materials_and_files_say_what_is_wrong(self):
        scene = throng.Scene()
        scene.instances(scene.mesh(CUBE, FACES, material=throng.Metal(colour="red")))
        with self.assertRaisesRegex(throng.Error, "colour"):
            renderer(scene)
        with self.assertRaisesRegex(throng.Error, "no such file"):
            throng.Scene.open("no/such.glb")
        with self.assertRaisesRegex(throng.Error, "--sampels"):
            renderer(throng.Scene.open(LINK), sampels=3)
        with self.assertRaisesRegex(ValueError, "empty"):
            renderer(throng.Scene())

    def test_instances_move_between_times(self):
        moves = np.stack([np.stack([at(-3, 0, 0), at(3, 0, 0)]), np.stack([at(3, 0, 0), at(np.nan, 0, 0)])])
        scene = throng.Scene()
        cube = scene.mesh(CUBE, FACES, material=throng.Diffuse(color=(0.8, 0.2, 0.1)))
        placed = scene.instances(cube, moves, times=[0, 2])
        scene.environment("sky", elevation=40)
        own = renderer(scene)
        still, _ = cubes((0, 0, 0))
        seen = own.render(straight(time=1)).linear
        self.assertTrue((seen == renderer(still).render(straight()).linear).all(), "the second cube is not there")
        first = own.render(straight(time=0)).linear
        self.assertTrue((first == renderer(cubes((-3, 0, 0), (3, 0, 0))[0]).render(straight()).linear).all())
        self.assertEqual((len(placed), placed.matrices.shape), (2, (2, 3, 4)))
        for message, matrices, times in [
            ("increasing", moves, [0, 0]),
            (r"\(3, n, 3, 4\)", moves, [0, 1, 2]),
            (r"\(2, n, 3, 4\)", moves[0], [0, 1]),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                scene.instances(cube, matrices, times=times)


class Batches(unittest.TestCase):
    def test_arrays_of_a_batch_are_those_of_its_frames(self):
        scene, _ = cubes((0, 0, 0), (3, 1, -2), ids=[9, 5])
        cameras = [straight(z=8 + n) for n in range(3)]
        own = renderer(scene, layers=["depth", "instance", "flow", "normal"], transparent=True)
        frames, batch = list(own.render_many(cameras)), own.render_batch(cameras)
        self.assertEqual((len(batch), batch.size, batch.cameras), (3, (64, 48), cameras))
        self.assertEqual((batch.srgb.shape, batch.depth.shape), ((3, 48, 64, 4), (3, 48, 64)))
        for name in ("srgb", "linear", "depth", "instance", "flow", "flow_back", "normal", "alpha"):
            self.assertTrue((getattr(batch, name) == np.stack([getattr(frame, name) for frame in frames])).all(), name)
        self.assertEqual(batch.layers, frames[0].layers)
        self.assertEqual(batch.layer("flow").shape, (3, 48, 64, 4))
        self.assertEqual(set(np.unique(batch.instance)), {-1, 5, 9})
        with self.assertRaisesRegex(ValueError, "albedo"):
            batch.albedo
        with self.assertRaisesRegex(ValueError, "empty"):
            own.render_batch([])


class OnGpu(unittest.TestCase):
    def test_a_cpu_keeps_no_pictures(self):
        scene, _ = cubes((0, 0, 0))
        with self.assertRaisesRegex(throng.Error, "render on a GPU"):
            renderer(scene, on_gpu=True).render(straight())
        with self.assertRaisesRegex(throng.Error, "render on a GPU"):
            renderer(scene, on_gpu=True).render_batch([straight()])

    @unittest.skipUnless(shutil.which("nvidia-smi"), "no GPU")
    def test_pictures_on_a_gpu_are_those_of_the_host(self):
        scene, placed = cubes((0, 0, 0), (3, 1, -2))
        layers = ["depth", "normal", "alpha"]
        # Of an odd number of pixels, whose planes need gaps between them.
        odd = [renderer(scene, device="cuda:0", layers=layers, on_gpu=on_gpu).render(straight(), size=(33, 31)) for on_gpu in (False, True)]
        self.assertTrue((odd[0].alpha == odd[1].alpha.numpy()).all() and (odd[0].normal == odd[1].normal.numpy()).all())
        self.assertEqual(odd[1].alpha.__cuda_array_interface__["data"][0] % 256, 0)
        host = renderer(scene, device="cuda:0", samples=4, layers=layers).render(straight())
        own = renderer(scene, device="cuda:0", samples=4, layers=layers, on_gpu=True)
        for frame in own.render_many([straight()] * 8):
            pass
        frame = own.render(straight())
        self.assertTrue((frame.srgb.numpy() == host.srgb).all())
        self.assertTrue((frame.linear.numpy() == host.linear).all())
        self.assertTrue((frame.normal.numpy() == host.normal).all())
        self.assertEqual((frame.depth.shape, frame.depth.dtype), ((48, 64), "float32"))
        self.assertTrue((np.where(frame.depth.numpy() < 1e10, frame.depth.numpy(), np.inf) == host.depth).all())
        with self.assertRaisesRegex(ValueError, r"layers=\['flow'\]"):
            frame.flow
        with self.assertRaisesRegex(throng.Error, "denoising"):
            renderer(scene, device="cuda:0", on_gpu=True, denoise=True, samples=2).render(straight())
        del own
        try:
            import torch
        except ImportError:
            return
        tensor = torch.from_dlpack(frame.linear)
        self.assertEqual((tuple(tensor.shape), str(tensor.device)), ((48, 64, 3), "cuda:0"))
        del frame
        gc.collect()
        self.assertTrue((tensor.cpu().numpy() == host.linear).all())

    @unittest.skipUnless(shutil.which("nvidia-smi"), "no GPU")
    def test_numbers_flow_and_alpha_on_a_gpu_are_those_of_the_host(self):
        for ids in (None, [70, 4, 4]):
            scene, placed = cubes((0, 0, 0), (3, 1, -2), (-3, -1, 1), ids=ids)
            layers = ["instance", "material", "flow"]
            cameras = [straight(33, 31, z=10 + n) for n in range(4)]
            frames = [
                list(renderer(scene, device="cuda:0", samples=4, layers=layers, transparent=True, on_gpu=on_gpu).render_many(cameras))
                for on_gpu in (False, True)
            ]
            for host, own in zip(*frames):
                for name in ("instance", "material", "flow", "flow_back", "srgb", "linear", "alpha"):
                    expected, found = getattr(host, name), getattr(own, name)
                    self.assertEqual((found.shape, found.dtype), (expected.shape, str(expected.dtype)), name)
                    self.assertTrue((found.numpy() == expected).all(), name)
            self.assertIn(4 if ids else 1, np.unique(frames[0][0].instance))

    @unittest.skipUnless(shutil.which("nvidia-smi"), "no GPU")
    def test_batches_on_a_gpu_are_the_frames_of_the_host(self):
        scene, _ = cubes((0, 0, 0), (3, 1, -2))
        # So many that they are several batches; the flow has none.
        many = [straight(33, 31, z=8 + 0.01 * n) for n in range(600)]
        for cameras, layers, samples in [(many, ["depth", "instance"], 4), (many[:5], ["flow", "instance"], 1), (many[:1], [], 1)]:
            options = {"device": "cuda:0", "samples": samples, "layers": layers}
            host = renderer(scene, **options).render_batch(cameras)
            own = renderer(scene, on_gpu=True, **options).render_batch(cameras)
            self.assertEqual(len(own), len(cameras))
            self.assertEqual(own.srgb.shape, (len(cameras), 31, 33, 3))
            for name in ["srgb", "linear", *(name for name in layers if name != "depth")]:
                expected, found = getattr(host, name), getattr(own, name)
                self.assertEqual((found.shape, found.dtype), (expected.shape, str(expected.dtype)), name)
                self.assertTrue((found.numpy() == expected).all(), name)
            frames = renderer(scene, on_gpu=True, **options).render_many(cameras)
            for frame, expected in zip(frames, host.srgb):
                self.assertTrue((frame.srgb.numpy() == expected).all())

    @unittest.skipUnless(shutil.which("nvidia-smi"), "no GPU")
    def test_the_current_gpu_of_other_libraries_stays(self):
        import ctypes

        driver = ctypes.CDLL("libcuda.so.1")

        def current():
            context = ctypes.c_void_p()
            driver.cuCtxGetCurrent(ctypes.byref(context))
            return context.value

        def work(found):
            scene, _ = cubes((0, 0, 0))
            own = renderer(scene, device="cuda:0", layers=["instance"], on_gpu=True)
            found.append(current())
            frame = own.render(straight())
            own.trace((0, 0, 10), (0, 0, -1))
            own.occluded((0, 0, 10), (0, 0, -1))
            found.append(current())
            frame.instance.numpy()
            frame.srgb.numpy()
            del frame
            own.render_batch([straight()] * 3)
            found.append(current())
            del own
            gc.collect()
            found.append(current())

        found = []
        driver.cuInit(0)
        thread = threading.Thread(target=work, args=(found,))
        thread.start()
        thread.join()
        self.assertEqual(found, [None] * 4, "a thread without a context has none later")
        try:
            import torch
        except ImportError:
            return
        torch.cuda.set_device(torch.cuda.device_count() - 1)
        torch.zeros(1, device="cuda")
        device, before, found = torch.cuda.current_device(), current(), []
        work(found)
        self.assertEqual((found, torch.cuda.current_device()), ([before] * 4, device))


class Work(unittest.TestCase):
    def test_a_renderer_renders_one_call_at_a_time(self):
        scene, _ = cubes((0, 0, 0))
        own = renderer(scene)
        frames = own.render_many([straight()] * 20)
        next(frames)
        with self.assertRaisesRegex(RuntimeError, "at work"):
            own.render(straight())
        frames.close()
        self.assertEqual(own.render(straight()).number, 1)
        # An iterator that is dropped ends its work, too.
        next(own.render_many([straight()] * 20))
        gc.collect()
        self.assertEqual(own.render(straight()).number, 1)

    def test_renderers_work_side_by_side(self):
        scene, _ = cubes((0, 0, 0))
        expected = renderer(scene).render(straight()).srgb
        found = []
        threads = [threading.Thread(target=lambda: found.append(renderer(scene).render(straight()).srgb)) for _ in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertTrue(all((picture == expected).all() for picture in found) and len(found) == 3)

    @unittest.skipUnless(sys.platform == "linux", "needs /proc")
    def test_a_renderer_is_idle_after_its_thread_could_not_start(self):
        # In a process of its own: stacks of threads that ended are used again.
        code = """if True:
            import resource, throng
            own = throng.Renderer(throng.Scene.open(%r), "cpu", samples=1, denoise=False, size=(8, 8))
            own.scene.frames
            pages = int(open("/proc/self/statm").read().split()[0])
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            for work in (own.render, lambda: own.write(%r)):
                resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (4 << 20), most))
                try:
                    work()
                except RuntimeError as error:
                    assert "cannot start a thread" in str(error), error
                else:
                    raise SystemExit("the thread started")
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
            assert own.render().number == 1
        """
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", code % (str(LINK), f"{folder}/a.png")], check=True)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_forked_process_is_told(self):
        scene, _ = cubes((0, 0, 0))
        own = renderer(scene)
        own.render(straight())
        child = os.fork()
        if child == 0:
            try:
                own.render(straight())
            except RuntimeError as error:
                os._exit(0 if "fork" in str(error) else 2)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_the_module_loads_without_numpy(self):
        code = "import sys, throng; sys.exit('numpy' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_the_command_line_is_there(self):
        run = subprocess.run([sys.executable, "-m", "throng", "--version"], check=True, capture_output=True, text=True)
        self.assertEqual(run.stdout.strip(), f"throng {throng.__version__}")
        wrong = subprocess.run([sys.executable, "-m", "throng", "rendr"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)


if __name__ == "__main__":
    unittest.main()
