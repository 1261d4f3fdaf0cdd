"""Rendered frames as arrays."""

from __future__ import annotations

import os
from functools import cached_property
from typing import List, Optional, Tuple

import numpy as np

from ._camera import Camera

# The layer of each property.
LAYERS = {"flow": "motion", "flow_back": "motion"}


class Frame:
    """A rendered frame. Its pictures and layers are numpy arrays, row by row from the top left, made when they are first used.

    Frames of a renderer with `on_gpu` have a `GpuArray` in place of each numpy array. Their pictures have three channels, and alpha is a layer. `depth` is
    at least 1e10 where nothing is hit. `flow`, `instance` and `material` are not available: `layer("flow")` and so on have the layers of files.
    """

    def __init__(self, core, camera: Optional[Camera], ids: Optional[np.ndarray]) -> None:
        self._core = core
        self._ids = ids
        #: The camera that was given; None for the scene's own.
        self.camera = camera
        #: Number of the frame.
        self.number: int = core.number
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
        return identified(self._numbers("instance"), self._ids)

    @cached_property
    def material(self) -> np.ndarray:
        """Number of the material that covers most of each pixel: int32, (height, width); -1 for none. `Scene.material_names` has their names."""
        return self._numbers("material")

    @cached_property
    def flow(self) -> np.ndarray:
        """Optical flow from this frame to the next one, in pixels to the right and down: float32, (height, width, 2)."""
        self._host_only("flow")
        return self.layer("flow")[..., 2:4] * np.float32([-1, 1])

    @cached_property
    def flow_back(self) -> np.ndarray:
        """Optical flow from this frame to the previous one, in pixels to the right and down: float32, (height, width, 2)."""
        self._host_only("flow_back")
        return self.layer("flow")[..., 0:2] * np.float32([1, -1])

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

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the picture: display colours to .png, .jpg or .webp, radiance to .exr."""
        self._core.save(os.fspath(path))

    def _numbers(self, name: str) -> np.ndarray:
        self._host_only(name)
        return self._demand(name, self._core.numbers(name))

    def _host_only(self, name: str) -> None:
        if self._core.on_gpu:
            raise ValueError(f"{name} is computed on the host: use layer({name!r}), or a renderer without on_gpu")

    def _demand(self, name: str, array: Optional[np.ndarray]) -> np.ndarray:
        if array is None:
            raise ValueError(f"the frame has no layer {name!r}: make its renderer with layers=[{name!r}]")
        return array

    def __repr__(self) -> str:
        width, height = self.size
        return f"Frame(number={self.number}, size=({width}, {height}), layers={self.layers})"


def identified(numbers: np.ndarray, ids: Optional[np.ndarray]) -> np.ndarray:
    """Ids in place of instance numbers, if there are any."""
    return numbers if ids is None else np.where(numbers < 0, np.int32(-1), ids[numbers])
