"""Rendered frames as arrays."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._camera import Camera

# The layer of each property.
LAYERS = {"flow": "motion", "flow_back": "motion"}


class _Pictures:
    """Pictures and layers as arrays, made when they are first used. Rows are from the top left."""

    def __init__(self, core: Any) -> None:
        self._core = core
        #: Width and height in pixels.
        self.size: Tuple[int, int] = core.size

    @cached_property
    def srgb(self) -> np.ndarray:
        """Display colours as in a .png file: uint8, (height, width, 3), or 4 with alpha if the renderer is transparent."""
        return self._core.srgb()

    @cached_property
    def linear(self) -> np.ndarray:
        """Linear radiance (Rec.709) as in an .exr file, before exposure and tone mapping: float32, (height, width, 3 or 4). Colours are multiplied
        by alpha."""
        return self._core.linear()

    @cached_property
    def depth(self) -> np.ndarray:
        """Distance along the camera's axis in scene units, of panoramas and fisheyes from the eye: float32, (height, width); infinite where nothing
        is hit."""
        depth = self.layer("depth")
        if self._core.on_gpu:
            return depth
        depth[depth >= 1e10] = np.inf
        return depth

    @cached_property
    def position(self) -> np.ndarray:
        """Points in world space: float32, (height, width, 3); 0 where nothing is hit."""
        return self.layer("position")

    @cached_property
    def normal(self) -> np.ndarray:
        """Shading normals in world space, which face the camera: float32, (height, width, 3); 0 where nothing is hit."""
        return self.layer("normal")

    @cached_property
    def albedo(self) -> np.ndarray:
        """Share of light that surfaces reflect: float32, (height, width, 3)."""
        return self.layer("albedo")

    @cached_property
    def alpha(self) -> np.ndarray:
        """Share of each pixel that something covers: float32, (height, width)."""
        return self.layer("alpha")

    @cached_property
    def instance(self) -> np.ndarray:
        """Number, or id, of the instance that covers most of each pixel: int32, (height, width); -1 for none. `Scene.instance_names` has the names
        by number."""
        return self._demand("instance", self._core.numbers("instance"))

    @cached_property
    def material(self) -> np.ndarray:
        """Number of the material that covers most of each pixel: int32, (height, width); -1 for none. `Scene.material_names` has their names."""
        return self._demand("material", self._core.numbers("material"))

    @cached_property
    def flow(self) -> np.ndarray:
        """Optical flow from this frame to the next one, in pixels to the right and down: float32, (height, width, 2)."""
        return self._demand("flow", self._core.flow(False))

    @cached_property
    def flow_back(self) -> np.ndarray:
        """Optical flow from this frame to the previous one, in pixels to the right and down: float32, (height, width, 2)."""
        return self._demand("flow_back", self._core.flow(True))

    def layer(self, name: str) -> np.ndarray:
        """A layer as `throng render --layers` writes it: float32, (height, width) or (height, width, channels).

        Raises:
            ValueError: If the renderer was not asked for this layer.
        """
        array = self._core.layer(LAYERS.get(name, name))
        return self._demand(name, array)

    @property
    def layers(self) -> List[str]:
        """Names of the layers that the frame has."""
        return self._core.layers()

    def _demand(self, name: str, array: Optional[np.ndarray]) -> np.ndarray:
        if array is None:
            raise ValueError(f"the frame has no layer {name!r}: make its renderer with layers=[{name!r}]")
        return array


class Frame(_Pictures):
    """A rendered frame. Its pictures and layers are numpy arrays, row by row from the top left, made when they are first used.

    Frames of a renderer with `on_gpu` have a `GpuArray` of the same values in place of each numpy array, except that `depth` is at least 1e10 where
    nothing is hit.
    """

    def __init__(self, core: Any, camera: Optional[Camera]) -> None:
        super().__init__(core)
        #: The camera that was given; None for the scene's own.
        self.camera = camera
        #: Number of the frame.
        self.number: int = core.number

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the picture: display colours to .png, .jpg or .webp, radiance to .exr."""
        self._core.save(os.fspath(path))

    def __repr__(self) -> str:
        width, height = self.size
        return f"Frame(number={self.number}, size=({width}, {height}), layers={self.layers})"


class Batch(_Pictures):
    """All frames of a call, with one array for each picture and layer. Arrays are those of `Frame`, with a first axis for the frames: `srgb` has the
    shape (frames, height, width, 3 or 4), and `depth` the shape (frames, height, width). `len` is the number of frames."""

    def __init__(self, core: Any, count: int, cameras: Optional[Sequence[Camera]]) -> None:
        super().__init__(core)
        self._count = count
        #: The cameras that were given; None for the scene's own.
        self.cameras = cameras

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        width, height = self.size
        return f"Batch(frames={self._count}, size=({width}, {height}), layers={self.layers})"


class Stack:
    """Frames in host memory as one, for `Batch`."""

    on_gpu = False

    def __init__(self, frames: Sequence[Any]) -> None:
        self._frames = frames
        self.size = frames[0].size

    def srgb(self) -> np.ndarray:
        return np.stack([frame.srgb() for frame in self._frames])

    def linear(self) -> np.ndarray:
        return np.stack([frame.linear() for frame in self._frames])

    def layers(self) -> List[str]:
        return self._frames[0].layers()

    def layer(self, name: str) -> Optional[np.ndarray]:
        return _stacked([frame.layer(name) for frame in self._frames])

    def numbers(self, name: str) -> Optional[np.ndarray]:
        return _stacked([frame.numbers(name) for frame in self._frames])

    def flow(self, back: bool) -> Optional[np.ndarray]:
        return _stacked([frame.flow(back) for frame in self._frames])


def _stacked(arrays: List[Optional[np.ndarray]]) -> Optional[np.ndarray]:
    return None if arrays[0] is None else np.stack(arrays)  # type: ignore[arg-type]
