"""throng renders scenes in which the same meshes appear thousands to millions of times.

    import throng
    scene = throng.Scene.open("model.glb")
    frame = throng.Renderer(scene, samples=16).render(size=(320, 240))
    frame.srgb          # uint8, (240, 320, 3)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from ._camera import Camera
    from ._frame import Batch, Frame
    from ._renderer import Hits, Renderer
    from ._scene import (
        Diffuse,
        Emissive,
        Glass,
        Glossy,
        Hair,
        Holdout,
        Instances,
        Material,
        Mesh,
        Metal,
        Mirror,
        Pbr,
        Scene,
        ShadowCatcher,
    )
    from ._throng import Error, GpuArray, __version__

# Loaded when they are first used: the command line needs none of them, and numpy takes longer to load than it.
_MODULES = {
    "Batch": "_frame",
    "Camera": "_camera",
    "Frame": "_frame",
    "Hits": "_renderer",
    "Renderer": "_renderer",
    "Error": "_throng",
    "GpuArray": "_throng",
    "__version__": "_throng",
    **dict.fromkeys(
        ["Diffuse", "Emissive", "Glass", "Glossy", "Hair", "Holdout", "Instances", "Material", "Mesh", "Metal", "Mirror", "Pbr", "Scene", "ShadowCatcher"],
        "_scene",
    ),
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
