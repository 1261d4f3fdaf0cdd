"""Cameras as computer vision describes them."""

from __future__ import annotations

import math
from typing import Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike

# The axes of a camera in each convention, as columns: right, up and back.
_CONVENTIONS = {
    "opengl": np.diag([1.0, 1.0, 1.0]),
    "opencv": np.diag([1.0, -1.0, -1.0]),
}


class Camera:
    """A camera at rest.

    The pose is `world_from_camera`, a 4x4 or 3x4 matrix, or `eye` and `target`. The projection is one of

    - `K`, a 3x3 matrix of focal lengths and principal point in pixels of a picture of `size`,
    - `fov`, the vertical field of view in degrees, with the principal point in the middle,
    - `orthographic`, the height of the view in scene units,
    - `panorama=True`: the whole surroundings by longitude and latitude,
    - none of these: the projection of the scene's own camera.

    Args:
        K: Intrinsics in pixels. Needs `size`.
        world_from_camera: Pose: its columns are the camera's x, y and z axes and its position, in world space.
        size: Width and height of the picture in pixels. Default: the renderer's size.
        convention: Axes of the camera. "opencv": x right, y down, z ahead (COLMAP). "opengl": x right, y up, z back (Blender, nerfstudio).
        distortion: OpenCV's coefficients (k1, k2, p1, p2[, k3[, k4, k5, k6]]). Needs `K`.
        fisheye: The coefficients (k1, k2, k3, k4) of OpenCV's fisheye model (Kannala and Brandt). Needs `K`.
        pixel_centers: Where pixel (0, 0) has its centre in `K`: 0.5 (COLMAP, nerfstudio), or 0 (OpenCV's calibration).
        eye, target, up: The pose of a camera at `eye` that looks at `target`; `up` is up in its picture.
        focus: Distance at which objects are sharp, if the renderer has an aperture. Default: the target, or 1.
        time: Time in seconds at which the scene is seen. Default: the scene's first frame.
        name: Name of the view, such as a file name.
    """

    def __init__(
        self,
        K: Optional[ArrayLike] = None,
        world_from_camera: Optional[ArrayLike] = None,
        size: Optional[Tuple[int, int]] = None,
        convention: str = "opencv",
        *,
        distortion: Optional[Sequence[float]] = None,
        fisheye: Optional[Sequence[float]] = None,
        pixel_centers: float = 0.5,
        fov: Optional[float] = None,
        orthographic: Optional[float] = None,
        panorama: bool = False,
        eye: Optional[ArrayLike] = None,
        target: Optional[ArrayLike] = None,
        up: ArrayLike = (0.0, 1.0, 0.0),
        focus: Optional[float] = None,
        time: Optional[float] = None,
        name: str = "",
    ) -> None:
        if convention not in _CONVENTIONS:
            raise ValueError(f'convention is {convention!r}: it must be "opencv" or "opengl"')
        self.size = None if size is None else _size(size)
        self.convention = convention
        self.name = name
        self.time = None if time is None else _number("time", time)
        self.K = None if K is None else _intrinsics(K)
        self.world_from_camera, distance = _pose(world_from_camera, eye, target, up, convention)
        self.focus = distance if focus is None else _number("focus", focus, above=0.0)
        self.fov = None if fov is None else _number("fov", fov, above=0.0)
        self.orthographic = None if orthographic is None else _number("orthographic", orthographic, above=0.0)
        self.panorama = bool(panorama)
        self.pixel_centers = _number("pixel_centers", pixel_centers)
        given = [n for n in ("K", "fov", "orthographic") if getattr(self, n) is not None] + ["panorama"] * self.panorama
        if len(given) > 1:
            raise ValueError(f"{given[0]} and {given[1]} exclude each other: give one")
        if self.fov is not None and self.fov >= 180.0:
            raise ValueError(f"fov is {self.fov}: it must be below 180 degrees")
        if self.K is not None and self.size is None:
            raise ValueError("K is in pixels: give the size of its picture, such as size=(640, 480)")
        self.distortion, self.fisheye = _lens(distortion, fisheye)
        if self.K is None and (self.distortion or self.fisheye):
            raise ValueError("distortion needs K: give the focal lengths and the principal point")
        # Fields read by the compiled module.
        axes = self.world_from_camera[:3, :3] @ _CONVENTIONS[convention]
        self.eye = [float(v) for v in self.world_from_camera[:3, 3]]
        self.axes = [[float(v) for v in column] for column in axes.T]

    def pose(self, convention: str = "opencv") -> np.ndarray:
        """World from camera, with the axes of `convention`: (4, 4)."""
        if convention not in _CONVENTIONS:
            raise ValueError(f'convention is {convention!r}: it must be "opencv" or "opengl"')
        out = self.world_from_camera.copy()
        out[:3, :3] = np.transpose(self.axes) @ _CONVENTIONS[convention].T
        return out

    def _view(self, start: float) -> _View:
        return _View(self, start)

    def __repr__(self) -> str:
        pose = np.array2string(self.world_from_camera[:3], precision=4, separator=", ").replace("\n", "")
        return f"Camera(world_from_camera={pose}, size={self.size}, convention={self.convention!r})"


class _View:
    """The fields that the compiled module reads."""

    def __init__(self, camera: Camera, start: float) -> None:
        self.name = camera.name
        self.eye = camera.eye
        self.axes = camera.axes
        self.intrinsics = None
        if camera.K is not None and camera.size is not None:
            (width, height), K = camera.size, camera.K
            center = K[:2, 2] + (0.5 - camera.pixel_centers)
            self.intrinsics = [K[0, 0] / width, K[1, 1] / height, center[0] / width, center[1] / height]
        self.distortion = camera.fisheye or camera.distortion
        self.fov_y = None if camera.fov is None else math.radians(camera.fov)
        self.height = camera.orthographic
        self.panorama = camera.panorama
        self.distance = camera.focus
        self.time = start if camera.time is None else camera.time


def _number(name: str, value: float, above: float = -math.inf) -> float:
    value = float(value)
    if not math.isfinite(value) or value <= above:
        raise ValueError(f"{name} is {value}: it must be finite" + (f" and above {above:g}" if above > -math.inf else ""))
    return value


def _size(size: Tuple[int, int]) -> Tuple[int, int]:
    try:
        width, height = (int(v) for v in size)
    except (TypeError, ValueError):
        raise ValueError(f"size is {size!r}: it must be (width, height)") from None
    if width < 1 or height < 1:
        raise ValueError(f"size is {(width, height)}: both must be at least 1")
    return width, height


def _array(name: str, value: ArrayLike, shapes: Sequence[Tuple[int, ...]]) -> np.ndarray:
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in shapes:
        wanted = " or ".join(str(shape) for shape in shapes)
        raise ValueError(f"{name} has the shape {array.shape}: it must be {wanted}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} is not finite: every number must be")
    return array


def _intrinsics(value: ArrayLike) -> np.ndarray:
    K = _array("K", value, [(3, 3)])
    if K[0, 0] <= 0 or K[1, 1] <= 0:
        raise ValueError(f"K has the focal lengths {K[0, 0]:g} and {K[1, 1]:g}: both must be above 0")
    if abs(K[0, 1]) > 1e-6 * K[0, 0]:
        raise ValueError(f"K has the skew {K[0, 1]:g}: cameras have none, so it must be 0")
    if not np.allclose(K[[1, 2, 2, 2], [0, 0, 1, 2]], [0, 0, 0, 1]):
        raise ValueError("K is no matrix of intrinsics: write [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]")
    return K


def _pose(world_from_camera, eye, target, up, convention) -> Tuple[np.ndarray, float]:
    """The 4x4 pose, and the distance to what the camera looks at."""
    if (world_from_camera is None) == (eye is None):
        raise ValueError("give either world_from_camera, or eye and target")
    pose = np.eye(4)
    if eye is None:
        matrix = _array("world_from_camera", world_from_camera, [(4, 4), (3, 4)])
        axes = matrix[:3, :3]
        size = np.cbrt(abs(np.linalg.det(axes)))
        if size < 1e-12 or not np.allclose(axes.T @ axes, size**2 * np.eye(3), atol=1e-3 * size**2):
            raise ValueError("world_from_camera is no rotation: its columns must be orthogonal and equally long")
        if np.linalg.det(axes) < 0:
            raise ValueError("world_from_camera mirrors: the determinant of its rotation is -1, not 1")
        if matrix.shape == (4, 4) and not np.allclose(matrix[3], [0, 0, 0, 1]):
            raise ValueError(f"world_from_camera has the last row {matrix[3]}: it must be (0, 0, 0, 1)")
        # The nearest rotation.
        left, _, right = np.linalg.svd(axes)
        pose[:3, :3], pose[:3, 3] = left @ right, matrix[:3, 3]
        return pose, 1.0
    eye, up = _array("eye", eye, [(3,)]), _array("up", up, [(3,)])
    target = _array("target", (0.0, 0.0, 0.0) if target is None else target, [(3,)])
    distance = float(np.linalg.norm(target - eye))
    if distance == 0:
        raise ValueError("eye and target are the same point: move one of them")
    ahead = (target - eye) / distance
    right = np.cross(ahead, up)
    if np.linalg.norm(right) < 1e-6 * max(np.linalg.norm(up), 1e-30):
        raise ValueError("the camera looks along up: give another, such as up=(0, 0, -1)")
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(right, ahead), -ahead], axis=1)
    pose[:3, :3], pose[:3, 3] = axes @ _CONVENTIONS[convention], eye
    return pose, distance


def _lens(distortion, fisheye) -> Tuple[Sequence[float], Sequence[float]]:
    if distortion is not None and fisheye is not None:
        raise ValueError("distortion and fisheye exclude each other: give one")
    if fisheye is not None:
        k = _array("fisheye", fisheye, [(4,)])
        return [], [float(v) for v in k]
    if distortion is None:
        return [], []
    coefficients = np.ravel(_array("distortion", np.ravel(distortion), [(4,), (5,), (8,)]))
    k1, k2, p1, p2, k3, k4, k5, k6 = [float(v) for v in coefficients] + [0.0] * (8 - len(coefficients))
    return ([k1, k2, k3, k4, k5, k6, p1, p2] if coefficients.any() else []), []
