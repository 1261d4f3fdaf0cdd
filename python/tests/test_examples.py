"""Runs the programs of python/examples, small. Those whose libraries or GPU are missing are skipped."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import throng

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
ASSETS = pathlib.Path(os.environ.get("THRONG_ASSETS", pathlib.Path(__file__).parents[2] / "assets"))


def run(name, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class Examples(unittest.TestCase):
    def test_views_of_an_object(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run("views_of_an_object.py", ASSETS / "link.obj", folder, "--views", 3, "--size", 96, "--samples", 16, "--device", "cpu")
            cameras = json.loads((folder / "transforms.json").read_text())
            self.assertEqual([frame["file_path"] for frame in cameras["frames"]], ["000.png", "001.png", "002.png"])
            # The mesh is in the unit cube, and each camera of the file sees it where the picture has it.
            mesh = throng.Scene.open(folder / "mesh.ply", no_ground=True)
            self.assertAlmostEqual(float(np.ptp(mesh.bounds, axis=0).max()), 1, places=5)
            focal = 48 / np.tan(cameras["camera_angle_x"] / 2)
            K = [[focal, 0, 48], [0, focal, 48], [0, 0, 1]]
            views = [throng.Camera(K, frame["transform_matrix"], (96, 96), "opengl") for frame in cameras["frames"]]
            again = throng.Renderer(mesh, "cpu", samples=16, denoise=False, transparent=True, layers=["alpha"])
            for frame, view in zip(again.render_many(views), cameras["frames"]):
                seen = frame.alpha > 0.5
                self.assertTrue(0.02 < seen.mean() < 0.9)
                if importlib.util.find_spec("cv2"):
                    import cv2

                    drawn = cv2.imread(str(folder / view["file_path"]), cv2.IMREAD_UNCHANGED)[..., 3] > 127
                    self.assertGreater((seen & drawn).sum() / (seen | drawn).sum(), 0.9)

    def test_boxes_on_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run("boxes_on_a_table.py", folder, "--pictures", 2, "--size", 80, 60, "--samples", 1, "--device", "cpu")
            coco = json.loads((folder / "coco.json").read_text())
            self.assertEqual([image["file_name"] for image in coco["images"]], ["0000.png", "0001.png"])
            self.assertGreater(len(coco["annotations"]), 10)
            for entry in coco["annotations"]:
                counts, (height, width) = entry["segmentation"]["counts"], entry["segmentation"]["size"]
                self.assertEqual(sum(counts), height * width)
                mask = np.repeat(np.arange(len(counts)) % 2, counts).reshape(width, height).T
                left, top, across, down = entry["bbox"]
                self.assertEqual((mask.sum(), mask[top : top + down, left : left + across].sum()), (entry["area"], entry["area"]))
            if importlib.util.find_spec("pycocotools"):
                from pycocotools import mask as masks
                from pycocotools.coco import COCO

                loaded = COCO(folder / "coco.json")
                for entry in loaded.loadAnns(loaded.getAnnIds()):
                    self.assertEqual(masks.decode(loaded.annToRLE(entry)).sum(), entry["area"])

    def test_crowd_from_csv(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            rows = [f"{time},{name},{2 * time + place},0,{place},90,ignored" for time in (0, 0.5, 1) for place, name in enumerate("abc")]
            (folder / "tracks.csv").write_text("\n".join(["time,id,x,y,z,yaw,speed", *rows]))
            run("crowd_from_csv.py", folder / "tracks.csv", folder / "out", "--frames", 2, "--size", 64, 36, "--samples", 1, "--device", "cpu")
            self.assertEqual(sorted(os.listdir(folder / "out")), ["0001.png", "0002.png", "crowd.ron", "tracks.csv"])

    @unittest.skipUnless(importlib.util.find_spec("mujoco"), "no mujoco")
    def test_mujoco_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            run("mujoco_steps.py", folder, "--frames", 2, "--bodies", 5, "--size", 64, 48, "--samples", 1, "--device", "cpu")
            self.assertEqual(sorted(os.listdir(folder)), ["0000.png", "0001.png"])

    @unittest.skipUnless(shutil.which("nvidia-smi") and importlib.util.find_spec("torch"), "no GPU or no PyTorch")
    def test_learning_on_a_gpu(self):
        said = run("learning_on_a_gpu.py", "--model", ASSETS / "link.obj", "--steps", 60)
        first, last = (float(word) for word in said.replace("squared error", "").split() if word.startswith("0."))
        self.assertLess(last, first)


if __name__ == "__main__":
    unittest.main()
