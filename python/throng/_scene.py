"""Scenes: files, and scenes built in code."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _throng
from ._flags import flags


class Material:
    """A material, with the fields of its kind in scene files (docs/scene/materials.md). Colours are (r, g, b) in linear Rec.709, or names and
    hexadecimal colours of CSS. `alpha` is "opaque", "blend", or the
    opacity from which a surface is visible. `name` is the name in files and layers."""

    kind = ""

    def __init__(self, **fields: Any) -> None:
        self.fields = {_GLTF.get(name, name) if self.kind == "Pbr" else name: value for name, value in fields.items()}

    def _text(self, pictures: "_Pictures") -> str:
        return f"{self.kind}({_fields(self.fields, pictures)})"

    def __repr__(self) -> str:
        return f"throng.{self.kind}({', '.join(f'{k}={v!r}' for k, v in self.fields.items())})"


def _material(kind: str, doc: str) -> type:
    return type(kind, (Material,), {"__doc__": doc, "kind": kind, "__module__": "throng"})


# Names of glTF 2.0 for fields of scene files.
_GLTF = {"base_color": "color", "base_color_texture": "texture", "emissive": "emission", "emissive_texture": "emission_texture"}


Diffuse = _material("Diffuse", "A matt surface: `color`, `texture`.")
Mirror = _material("Mirror", "A mirror: `tint`, `roughness`, `texture`.")
Emissive = _material("Emissive", "A surface that emits light: `radiance`, `color`, `texture`.")
Metal = _material("Metal", "A metal: `color`, `roughness`, `anisotropy`, `rotation`, `texture`, `normal_texture`.")
Glossy = _material("Glossy", "Plastic or paint: `color`, `roughness`, `ior`, `clearcoat`, `texture`, `normal_texture`.")
Glass = _material("Glass", "Glass or a liquid: `color`, `ior`, `roughness`, `attenuation`, `dispersion`, `thin`.")
Pbr = _material(
    "Pbr", "The material of glTF 2.0 with its extensions: `base_color`, `base_color_texture`, `metallic`, `roughness`, `normal_texture` and so on."
)
Hair = _material("Hair", "Hair and fur, for curves: `melanin`, `redness`, `color`, `absorption`, `roughness`, `azimuthal_roughness`, `tilt` and so on.")
Holdout = _material("Holdout", "Cuts a hole into the picture: `color`.")
ShadowCatcher = _material("ShadowCatcher", "Shows cameras only the shadows on it: `color`.")


class _Pictures:
    """Pictures in memory, by the names that stand for them in the text of a scene."""

    def __init__(self) -> None:
        self.arrays: Dict[str, np.ndarray] = {}
        self._names: Dict[int, str] = {}
        self._given: List[Any] = []

    def name(self, picture: Any) -> str:
        """The name of a picture, which is copied. One object is one picture."""
        if id(picture) not in self._names:
            name = f"<picture {len(self.arrays)}>"
            self.arrays[name] = _texels(picture)
            self._names[id(picture)] = name
            # Its id must not become that of another object.
            self._given.append(picture)
        return self._names[id(picture)]


class Mesh:
    """A mesh of a scene that is built in code. `Scene.mesh` makes it."""

    def __init__(self, name: str, material: Optional[str]) -> None:
        self.name = name
        self._material = material


class Instances:
    """Instances of one mesh. `Scene.instances` makes them."""

    def __init__(
        self,
        scene: "Scene",
        mesh: Mesh,
        matrices: np.ndarray,
        materials: List[str],
        ids: Optional[np.ndarray],
        moves: Optional[Tuple[np.ndarray, List[float]]],
    ) -> None:
        self.mesh = mesh
        #: int32, (n,): numbers that stand for the instances in layers and hits; None for their numbers in the scene.
        self.ids = ids
        self._scene = scene
        self._matrices = matrices
        self._materials = materials
        self._moves = moves

    def __len__(self) -> int:
        return len(self._matrices)

    @property
    def matrices(self) -> np.ndarray:
        """World from object: float32, (n, 3, 4). Setting it moves the instances in later calls, also of renderers that exist: only the acceleration
        structure over the instances is rebuilt. A `render_many` under way keeps the old matrices. The array itself is read-only. Of instances with
        `times`, the first matrices."""
        view = self._matrices.view()
        view.flags.writeable = False
        return view

    def _fields(self) -> Dict[str, Any]:
        matrices, times = (self._matrices, []) if self._moves is None else (self._moves[0].reshape(-1, 3, 4), self._moves[1])
        return {"of": self.mesh.name, "matrices": matrices, "materials": self._materials, "times": times}

    @matrices.setter
    def matrices(self, matrices: ArrayLike) -> None:
        array = _matrices(matrices)
        if len(array) != len(self._matrices):
            raise ValueError(f"there are {len(array)} matrices and {len(self._matrices)} instances: give one for each")
        if self._scene._built is not None:
            self._scene._built.place(self._scene._instances.index(self), array)
        self._matrices, self._moves = array, None


class Scene:
    """A scene. `Scene.open` reads one from a file; `Scene()` is empty, and is built by the methods below."""

    def __init__(self, name: str = "scene") -> None:
        self.name = name
        self._built: Optional[_throng.Source] = None
        self._file = False
        self._meshes: List[Dict[str, Any]] = []
        self._instances: List[Instances] = []
        self._materials: Dict[str, Material] = {}
        self._lights: List[str] = []
        self._environment: Optional[Tuple[str, Dict[str, Any]]] = None
        self._air: Optional[str] = None

    @classmethod
    def open(cls, path: "str | os.PathLike[str]", **options: Any) -> "Scene":
        """Opens whatever the command line renders: a scene file, or a glTF, OBJ, PLY or STL model.

        Args:
            path: The file.
            **options: Flags of `throng render` for loading, with underscores: `animation="Walk"`, `environment="sky.hdr"`, `variant="blue"`,
                `set=["render.samples=4"]`, `time=1.5`.

        Raises:
            throng.Error: If the file does not exist or has an unknown extension. Errors in the file are raised when it is first used.
        """
        scene = cls(os.path.splitext(os.path.basename(os.fspath(path)))[0])
        scene._built = _throng.Source.open(os.fspath(path), flags(options))
        scene._file = True
        return scene

    def mesh(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike,
        *,
        normals: Optional[ArrayLike] = None,
        uvs: Optional[ArrayLike] = None,
        colors: Optional[ArrayLike] = None,
        material: Optional[Material] = None,
        name: Optional[str] = None,
    ) -> Mesh:
        """Adds a mesh. It is visible where `instances` places it.

        Args:
            vertices: (n, 3) in object space.
            triangles: (m, 3) indices of vertices, counter-clockwise seen from outside.
            normals: (n, 3) for smooth shading. Default: flat shading.
            uvs: (n, 2) texture coordinates; (0, 0) is the lower left corner of a picture.
            colors: (n, 4) linear colours and alpha, which multiply the material's.
            material: The material. Default: matt grey.
            name: Name of the mesh. Default: `mesh0` and so on.
        """
        name = self._unique(name, "mesh", [mesh["name"] for mesh in self._meshes])
        arrays = {"vertices": vertices, "normals": normals, "uvs": uvs, "colors": colors}
        fields: Dict[str, Any] = {key: _floats(key, value) for key, value in arrays.items()}
        fields["triangles"] = _indices("triangles", triangles)
        self._meshes.append({"name": name, **fields})
        self._changed()
        return Mesh(name, None if material is None else self._named(material))

    def instances(
        self,
        mesh: Mesh,
        matrices: Optional[ArrayLike] = None,
        *,
        materials: "Union[None, Material, Sequence[Material]]" = None,
        ids: Optional[ArrayLike] = None,
        times: Optional[ArrayLike] = None,
    ) -> Instances:
        """Places copies of a mesh.

        Args:
            mesh: The mesh.
            matrices: World from object: (n, 3, 4) or (n, 4, 4), or one such matrix. With `times`, (len(times), n, 3, 4) or (len(times), n, 4, 4).
                Default: one copy where the mesh is.
            materials: One material for all copies, or one for each. Default: the mesh's.
            ids: (n,) whole numbers from 0 on, which `Frame.instance` and `Hits.instance` have in place of the copies' numbers. Several copies may
                share one. Give ids to all copies, or use ids above the number of copies. Default: the numbers of `instance_names`.
            times: Seconds, increasing, at which the copies have these matrices. They move between them, with blur and motion vectors. A copy
                whose matrix has NaN is not there at that time. Default: copies stay where they are.
        """
        moves = None if times is None else _moves(matrices, times)
        array = moves[0][0] if moves else _matrices(np.eye(4) if matrices is None else matrices)
        if materials is None:
            names = [] if mesh._material is None else [mesh._material]
        elif isinstance(materials, Material):
            names = [self._named(materials)]
        else:
            known: Dict[int, str] = {}
            names = [known.get(id(one)) or known.setdefault(id(one), self._named(one)) for one in materials]
            if len(names) != len(array):
                raise ValueError(f"there are {len(names)} materials and {len(array)} matrices: give one material, or one for each")
        numbers = None if ids is None else _ids(ids, len(array))
        placed = Instances(self, mesh, array, names, numbers, moves)
        self._instances.append(placed)
        self._changed()
        return placed

    def environment(self, kind: Any = "sky", **fields: Any) -> None:
        """Sets the light from all around.

        Args:
            kind: "sky" for sun and sky, a colour for uniform light, or a panorama by longitude and latitude: the path of a file (.hdr, .exr), or an
                array (height, width, 3) of linear radiance (float) or sRGB colours (uint8).
            **fields: Fields of the kind in scene files: of "sky" `elevation`, `azimuth`, `turbidity`, `intensity`; of a panorama `rotation`,
                `intensity`.
        """
        if isinstance(kind, str) and kind == "sky":
            self._environment = ("SunSky", fields)
        elif _is_picture(kind):
            self._environment = ("Image", {"file": kind, **fields})
        elif isinstance(kind, os.PathLike) or isinstance(kind, str) and os.path.splitext(kind)[1]:
            self._environment = ("Image", {"file": os.path.abspath(kind), **fields})
        else:
            self._environment = ("Constant", {"radiance": kind, **fields})
        self._changed()

    def fog(self, **fields: Any) -> None:
        """Fills the scene with fog, by the fields of `Fog` in scene files, such as `density`."""
        self._air = f"Fog({_fields(fields)})"
        self._changed()

    def sun(self, direction: ArrayLike, irradiance: Any = (5.0, 5.0, 4.5), **fields: Any) -> None:
        """Adds a light at infinite distance. `direction` points towards it."""
        self._light("Sun", direction=direction, irradiance=irradiance, **fields)

    def point_light(self, position: ArrayLike, intensity: Any, **fields: Any) -> None:
        """Adds a light that emits equally in all directions; `radius` makes it a ball."""
        self._light("Point", position=position, intensity=intensity, **fields)

    def spot_light(self, position: ArrayLike, direction: ArrayLike, intensity: Any, **fields: Any) -> None:
        """Adds a light that emits into a cone of `angle` degrees."""
        self._light("Spot", position=position, direction=direction, intensity=intensity, **fields)

    def rect_light(self, position: ArrayLike, direction: ArrayLike, size: ArrayLike, intensity: Any, **fields: Any) -> None:
        """Adds a bright rectangle of `size` (width, height)."""
        self._light("Rectangle", position=position, direction=direction, size=size, intensity=intensity, **fields)

    def disc_light(self, position: ArrayLike, direction: ArrayLike, radius: float, intensity: Any, **fields: Any) -> None:
        """Adds a bright disc."""
        self._light("Disc", position=position, direction=direction, radius=radius, intensity=intensity, **fields)

    @property
    def instance_names(self) -> List[str]:
        """Names of all instances, by their numbers, which `Frame.instance` has unless there are ids."""
        return self._source().instance_names()

    @property
    def material_names(self) -> List[str]:
        """Names of all materials, by the numbers of `Frame.material`."""
        return self._source().material_names()

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest corner of the box around all instances at rest, in world space: float32, (2, 3). The ground that a model file gets is left
        out."""
        return np.float32(self._source().bounds())

    def triangles(self) -> Tuple[np.ndarray, np.ndarray]:
        """Vertices (n, 3) in world space, and triangles (m, 3), of the instances of `bounds`, at rest. Instances repeat the triangles of their mesh.

        Raises:
            throng.Error: If there are more than 2^28 of either.
        """
        return self._source().triangles()

    @property
    def warnings(self) -> List[str]:
        """Warnings: parts of the file that are replaced or left out, one line each."""
        return self._source().warnings()

    @property
    def frames(self) -> range:
        """Numbers of the scene's frames."""
        first, count, _, _ = self._timing()
        return range(first, first + count)

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self._timing()[2]

    def _light(self, kind: str, **fields: Any) -> None:
        self._lights.append(f"{kind}({_fields(fields)})")
        self._changed()

    def _timing(self) -> Tuple[int, int, float, float]:
        return self._source().timing()

    def _changed(self) -> None:
        if self._file:
            raise ValueError("this scene is a file: build scenes with throng.Scene()")
        self._built = None

    def _unique(self, name: Optional[str], kind: str, known: Sequence[str]) -> str:
        if name is None:
            return f"{kind}{len(known)}"
        if name in known:
            raise ValueError(f"there is a {kind} {name!r} already: give it another name")
        return name

    def _named(self, material: Material) -> str:
        if not isinstance(material, Material):
            raise TypeError(f"a material is a {type(material).__name__}: it must be a throng.Pbr, throng.Diffuse or another kind")
        for name, own in self._materials.items():
            if own is material:
                return name
        name = str(material.fields.get("name") or f"material{len(self._materials)}")
        self._materials[self._unique(name, "material", list(self._materials))] = material
        return name

    def _source(self) -> "_throng.Source":
        if self._built is None:
            if not self._instances:
                raise ValueError("the scene is empty: add a mesh, and place it with instances")
            pictures = _Pictures()
            environment = self._environment and f"{self._environment[0]}({_fields(self._environment[1], pictures)})"
            sections = {
                "environment": environment,
                "air": self._air,
                "lights": f"[{', '.join(self._lights)}]",
                "materials": _map({name: material._text(pictures) for name, material in self._materials.items()}),
                "meshes": "{}",
                "instances": "[]",
            }
            text = "(" + ", ".join(f"{key}: {value}" for key, value in sections.items() if value is not None) + ")"
            placed = [i._fields() for i in self._instances]
            self._built = _throng.build(self.name, text, self._meshes, placed, list(pictures.arrays.items()))
        return self._built

    def _ids(self) -> Optional[np.ndarray]:
        """Id or number of each instance; None if no instance has an id."""
        if all(placed.ids is None for placed in self._instances):
            return None
        source = self._source()
        out = np.arange(sum(map(len, self._instances)), dtype=np.int32)
        for entry, placed in enumerate(self._instances):
            if placed.ids is not None:
                out[slice(*source.run(entry))] = placed.ids
        return out


def _matrices(value: ArrayLike) -> np.ndarray:
    """A copy as (n, 3, 4)."""
    array = _floats("matrices", value)
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or array.shape[1:] not in [(3, 4), (4, 4)]:
        raise ValueError(f"matrices have the shape {np.shape(value)}: it must be (n, 3, 4) or (n, 4, 4)")
    return np.array(array[:, :3], order="C")


def _moves(matrices: Optional[ArrayLike], times: ArrayLike) -> Tuple[np.ndarray, List[float]]:
    """A copy of matrices at times as (times, n, 3, 4), and the times."""
    seconds = np.asarray(times, dtype=np.float64)
    if seconds.ndim != 1 or not len(seconds) or not np.isfinite(seconds).all() or (np.diff(seconds) <= 0).any():
        raise ValueError("times must be a list of increasing numbers of seconds")
    array = _floats("matrices", matrices)
    if array is None or array.ndim != 4 or array.shape[2:] not in [(3, 4), (4, 4)] or len(array) != len(seconds) or not array.shape[1]:
        shape = f"({len(seconds)}, n, 3, 4) or ({len(seconds)}, n, 4, 4)"
        raise ValueError(f"matrices have the shape {np.shape(matrices)}: with {len(seconds)} times it must be {shape}")
    return np.array(array[:, :, :3], order="C"), seconds.tolist()


def _floats(name: str, value: Optional[ArrayLike]) -> Any:
    if value is None:
        return None
    try:
        return np.ascontiguousarray(value, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is no array of numbers: {error}") from None


def _indices(name: str, value: ArrayLike) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.size and (array.min() < 0 or array.max() > 0xFFFFFFFF):
        raise ValueError(f"{name} must be whole numbers from 0 on")
    return np.ascontiguousarray(array, dtype=np.uint32)


def _ids(value: ArrayLike, count: int) -> np.ndarray:
    array = np.asarray(value)
    if array.shape != (count,):
        raise ValueError(f"ids have the shape {array.shape}: it must be ({count},), one for each matrix")
    if array.dtype.kind not in "iu" or array.size and (array.min() < 0 or array.max() > 0x7FFFFFFF):
        raise ValueError("ids must be whole numbers from 0 on")
    return array.astype(np.int32)


def _is_picture(value: Any) -> bool:
    """Whether a value of a field is an array with rows, such as numpy's, a tensor of PyTorch, or a picture of Pillow."""
    return (hasattr(value, "__array__") or hasattr(value, "__array_interface__")) and np.ndim(value) > 1


def _texels(value: Any) -> np.ndarray:
    """A copy of a picture as (height, width, 4)."""
    array = np.asarray(value)
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise ValueError(f"a picture has the type {array.dtype}: it must be uint8 (sRGB or data) or float (linear)")
    pixels = array[..., None] if array.ndim == 2 else array
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4):
        raise ValueError(f"a picture has the shape {array.shape}: it must be (height, width), or (height, width, channels) of 1, 3 or 4 channels")
    is_bytes = pixels.dtype == np.uint8
    out = np.full((*pixels.shape[:2], 4), 255 if is_bytes else 1, np.uint8 if is_bytes else np.float32)
    out[..., : max(pixels.shape[2], 3)] = pixels
    return out


# Fields whose values are names without quotes in scene files.
_CHOICES = ("alpha", "wrap")


def _map(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_value(name)}: {text}" for name, text in entries.items()) + "}"


def _fields(fields: Mapping[str, Any], pictures: Optional[_Pictures] = None) -> str:
    def text(name: str, value: Any) -> str:
        if pictures is not None and _is_picture(value):
            return _value(pictures.name(value))
        if name == "alpha" and isinstance(value, (int, float)):
            return f"mask({_value(value)})"
        return value if name in _CHOICES and isinstance(value, str) else _value(value)

    return ", ".join(f"{name}: {text(name, value)}" for name, value in fields.items() if value is not None and name != "name")


def _value(value: Any) -> str:
    """A value in the notation of scene files (RON)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, np.generic):
        return _value(value.item())
    if isinstance(value, np.ndarray):
        return _value(tuple(value.tolist()))
    if isinstance(value, Mapping):
        return f"({_fields(value)})"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(_value(v) for v in value) + ")"
    return repr(value)
