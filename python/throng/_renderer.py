"""Renderers."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _throng
from ._camera import Camera, _size
from ._flags import flags
from ._frame import LAYERS, Batch, Frame, Stack
from ._scene import Scene


class Hits(NamedTuple):
    """Nearest hits of rays. A miss has an infinite distance and -1 in place of each number."""

    #: float32, (n,): distance in multiples of the direction's length.
    distance: np.ndarray
    #: float32, (n, 3): geometric normals in world space.
    normal: np.ndarray
    #: float32, (n, 2): weights of the triangle's second and third corner.
    barycentrics: np.ndarray
    #: int32, (n,): triangle in its mesh.
    primitive: np.ndarray
    #: int32, (n,): mesh.
    mesh: np.ndarray
    #: int32, (n,): instance, or its id.
    instance: np.ndarray
    #: int32, (n,): material.
    material: np.ndarray


class Renderer:
    """Renders frames of a scene, and keeps the scene on its device.

    Args:
        scene: The scene. Later changes of a scene that was built in code do not reach the renderer, except those of `Instances.matrices`. Other
            changes, such as of lights, need a new renderer, which builds the scene again.
        device: "auto" (all GPUs, or the CPU if there are none), "cpu", "cuda" or some GPUs such as "cuda:0,1".
        samples: Samples per pixel. Default: the scene's.
        denoise: Whether frames are denoised; "oidn" for Open Image Denoise. Default: models are, scene files and scenes in code only if they say so.
        layers: Layers of frames: "depth", "position", "normal", "albedo", "instance", "material", "flow" and others of `--layers`.
        size: Width and height in pixels; before those of cameras, whose `K` is scaled to it. Default: the camera's, or the scene's.
        transparent: Whether the background is left out. Frames then have an alpha.
        threads: CPU threads; 0 for one per core. The first renderer of a process decides.
        on_gpu: Whether frames stay in the GPU's memory: their arrays are `GpuArray`s, which PyTorch, JAX and CuPy take by `from_dlpack`.
        progress: Called several times per second while Python waits, with the number of frames that are done and the number of all (None in
            `write`). On the CPU, the first includes the finished share of the current frame. An exception ends the work.
        **options: Other flags of `throng render` for pictures, with underscores: `noise=0.01`, `tone_map="agx"`, `bounces=4`.
    """

    def __init__(
        self,
        scene: Scene,
        device: str = "auto",
        *,
        samples: Optional[int] = None,
        denoise: "Optional[bool | str]" = None,
        layers: Sequence[str] = (),
        size: Optional[Tuple[int, int]] = None,
        transparent: bool = False,
        threads: int = 0,
        on_gpu: bool = False,
        progress: Optional[Callable[[float, int], Any]] = None,
        **options: Any,
    ) -> None:
        if isinstance(layers, str):
            layers = layers.split(",")
        method = {None: None, False: "off", True: "frames"}.get(denoise, denoise)  # type: ignore[call-overload]
        names = list(dict.fromkeys(LAYERS.get(name, name) for name in layers))
        named: Dict[str, Any] = {"samples": samples, "denoise": method, "layers": names and ",".join(names), "transparent": transparent}
        self.scene = scene
        self.size = None if size is None else _size(size)
        if self.size is not None:
            named["size"] = "x".join(map(str, self.size))
        self._progress = progress
        self._ids = scene._ids()
        self._on_gpu = on_gpu
        ids = None if self._ids is None else self._ids.tolist()
        self._core = _throng.Renderer(scene._source(), flags({k: v for k, v in named.items() if v != []} | options), device, threads, on_gpu, ids)

    def render(
        self, camera: Optional[Camera] = None, *, frame: Optional[int] = None, size: Optional[Tuple[int, int]] = None
    ) -> Frame:
        """Renders one frame.

        Args:
            camera: The camera. Default: the scene's own, in frame `frame`.
            frame: Number of the frame to render with the scene's own camera. Default: the first.
            size: Width and height in pixels. Default: the renderer's, then the camera's, then the scene's.
        """
        if camera is None:
            numbers = None if frame is None else [frame]
            return next(iter(self.render_frames(numbers, size=size)))
        if frame is not None:
            raise ValueError("camera and frame exclude each other: give the camera a time")
        return next(iter(self.render_many([camera], size=size)))

    def render_many(self, cameras: Iterable[Camera], *, size: Optional[Tuple[int, int]] = None) -> Iterator[Frame]:
        """Renders a frame for each camera, in order. The next frames are rendered while one is used.

        All cameras need one size. Frames are those of `throng render --cameras`: camera `n` has the noise of frame `n`.
        """
        cameras = list(cameras)
        views, chosen = self._views(cameras, size)
        first = self.scene._timing()[0]
        return self._frames(range(first, first + len(views)), views, chosen, cameras)

    def render_batch(self, cameras: Iterable[Camera], *, size: Optional[Tuple[int, int]] = None) -> Batch:
        """Renders a frame for each camera, and returns all of them as one: its arrays have a first axis for the frames. Frames are those of
        `render_many`."""
        cameras = list(cameras)
        if not self._on_gpu:
            frames = list(self.render_many(cameras, size=size))
            return Batch(Stack([frame._core for frame in frames]), len(frames), cameras)
        views, chosen = self._views(cameras, size)
        first = self.scene._timing()[0]
        numbers = list(range(first, first + len(views)))
        core = self._core.batch(numbers, views, None if chosen is None else _size(chosen), self._progress)
        return Batch(core, len(numbers), cameras)

    def render_frames(
        self, frames: Optional[Iterable[int]] = None, *, size: Optional[Tuple[int, int]] = None
    ) -> Iterator[Frame]:
        """Renders frames of the scene's own animation and cameras, in order. Default: all of them."""
        if frames is None:
            first, count, _, _ = self.scene._timing()
            frames = range(first, first + count)
        return self._frames(frames, [], size or self.size, None)

    def write(
        self,
        output: "str | os.PathLike[str]",
        cameras: Optional[Iterable[Camera]] = None,
        *,
        frames: "Union[None, str, Iterable[int]]" = None,
        size: Optional[Tuple[int, int]] = None,
        **options: Any,
    ) -> int:
        """Writes frames to files, as the command line does.

        Args:
            output: Files, such as "out/####.png", "out/####.exr" or "turn.mp4".
            cameras: A camera for each frame, as for `render_many`. Default: the scene's own.
            frames: Numbers of the frames. Default: all of them; the first if `output` names one picture.
            size: Width and height in pixels. Default: the renderer's, then the cameras', then the scene's.
            **options: Flags of `throng render` for frames and files, with underscores: `skip_existing=True`, `quality=95`.

        Returns:
            The number of frames that were written. Frames that `skip_existing` keeps do not count.
        """
        named: Dict[str, Any] = {"output": os.fspath(output)}
        if frames is not None:
            named["frames"] = frames if isinstance(frames, str) else ",".join(str(int(frame)) for frame in frames)
        views, size = ([], size or self.size) if cameras is None else self._views(list(cameras), size)
        watcher = self._progress and (lambda done: self._progress(done, None))
        return self._core.write(flags({**named, **options}), views, None if size is None else _size(size), watcher)

    def _views(self, cameras: List[Camera], size: Optional[Tuple[int, int]]) -> Tuple[List[Any], Optional[Tuple[int, int]]]:
        """The views of cameras, and the size of their pictures."""
        if not cameras:
            raise ValueError("cameras is empty: give at least one")
        for index, camera in enumerate(cameras):
            if not isinstance(camera, Camera):
                raise TypeError(f"cameras[{index}] is a {type(camera).__name__}: it must be a throng.Camera")
        sizes = {camera.size for camera in cameras if camera.size is not None}
        if size is None and self.size is None and len(sizes) > 1:
            raise ValueError(f"cameras have the sizes {sorted(sizes)}: render those of each size in a call of its own, or give size")
        _, _, _, start = self.scene._timing()
        return [camera._view(start) for camera in cameras], size or self.size or (sizes.pop() if sizes else None)

    def _frames(self, numbers: Iterable[int], views, size, cameras: Optional[Sequence[Camera]]) -> Iterator[Frame]:
        numbers = list(numbers)
        core = self._core.frames(numbers, views, None if size is None else _size(size), self._progress)
        return _Frames(core, len(numbers), cameras)

    def trace(self, origins: ArrayLike, directions: ArrayLike, *, frame: Optional[int] = None) -> Hits:
        """Traces rays. Materials are ignored: rays also hit glass.

        Args:
            origins, directions: (n, 3) in world space.
            frame: Number of the frame whose scene is traced. Default: the first.
        """
        number = self.scene._timing()[0] if frame is None else frame
        hits = self._core.trace(number, _rays("origins", origins), _rays("directions", directions))
        return Hits(**{**hits, "instance": self._identified(hits["instance"])})

    def _identified(self, numbers: np.ndarray) -> np.ndarray:
        """Ids in place of instance numbers, if there are any."""
        return numbers if self._ids is None else np.where(numbers < 0, np.int32(-1), self._ids[numbers])

    def occluded(
        self, origins: ArrayLike, directions: ArrayLike, distances: Optional[ArrayLike] = None, *, frame: Optional[int] = None
    ) -> np.ndarray:
        """Whether each ray hits anything, up to a distance in multiples of its direction's length: bool, (n,). Faster than `trace`."""
        number = self.scene._timing()[0] if frame is None else frame
        most = None if distances is None else np.ascontiguousarray(distances, dtype=np.float32)
        return self._core.occluded(number, _rays("origins", origins), _rays("directions", directions), most)


class _Frames:
    """The frames of a call. Dropping the iterator ends the work."""

    def __init__(self, core, count: int, cameras: Optional[Sequence[Camera]]) -> None:
        self._core = core
        self._count = count
        self._cameras = iter(cameras) if cameras is not None else None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        frame = next(self._core)
        return Frame(frame, None if self._cameras is None else next(self._cameras))

    def close(self) -> None:
        """Ends the work."""
        self._core.close()

    def __del__(self) -> None:
        self._core.close()


def _rays(name: str, value: ArrayLike) -> np.ndarray:
    array = np.asarray(value, dtype=np.float32)
    return array[None] if array.ndim == 1 else array
