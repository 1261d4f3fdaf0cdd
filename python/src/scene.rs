//! Scenes: files, or descriptions in code.

use crate::{
    arrays::{any_rows, rows, table},
    frame::visit_instances,
    geometry, raised,
};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{
    ffi::OsString,
    ops::Range,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use throng::{
    cli,
    glam::{Affine3, Mat3, Vec3},
    loader::{self, LoadOptions},
    scene::{
        Placements, Scene, TexelImage, Texels, TriangleMesh,
        desc::{Matrices, MeshDesc, Placement, SceneFile},
    },
};

/// What a renderer renders.
#[pyclass(frozen)]
pub struct Source {
    origin: Origin,
    /// The scene with the loader's default framing, loaded when its contents are asked for.
    contents: Mutex<Option<Arc<Scene>>>,
    /// Transforms of instances that were moved since.
    placed: Mutex<Option<Arc<Placements>>>,
}

pub enum Origin {
    File { path: PathBuf, options: Box<LoadOptions> },
    Built(Arc<Scene>),
}

#[pymethods]
impl Source {
    /// A scene file or a model, with flags of `throng render` for loading.
    #[staticmethod]
    fn open(path: PathBuf, flags: Vec<OsString>) -> PyResult<Self> {
        let options = Box::new(cli::load_options(flags).map_err(raised)?);
        loader::check_kind(&path).map_err(raised)?;
        Ok(Self::of(Origin::File { path, options }))
    }

    /// Numbers of the first frame and of all frames, frames per second, and the time of the first frame.
    fn timing(&self, py: Python<'_>) -> PyResult<(u32, u32, f64, f64)> {
        let settings = &self.scene(py)?.settings;
        Ok((settings.first_frame, settings.frames, settings.fps, settings.start))
    }

    /// Numbers of the instances of an entry: the first, and the one after the last.
    fn run(&self, py: Python<'_>, entry: u32) -> PyResult<(u32, u32)> {
        let scene = self.scene(py)?;
        let run = instances(&scene, entry);
        Ok((run.start, run.end))
    }

    /// Moves the instances of an entry, in frames that begin later.
    fn place(&self, py: Python<'_>, entry: u32, matrices: PyReadonlyArrayDyn<'_, f32>) -> PyResult<()> {
        let transforms = transforms(&matrices)?;
        if let Some(index) = transforms.iter().position(|transform| !transform.is_finite()) {
            return Err(PyValueError::new_err(format!("matrices[{index}] is not finite: every number must be")));
        }
        let scene = self.scene(py)?;
        let run = instances(&scene, entry);
        if run.len() != transforms.len() {
            let message =
                format!("there are {} matrices and {} instances: give one for each", transforms.len(), run.len());
            return Err(PyValueError::new_err(message));
        }
        let mut placed = lock(&self.placed);
        let mut moved = placed.as_deref().cloned().unwrap_or_default();
        moved.set(run.start, transforms);
        *placed = Some(Arc::new(moved));
        Ok(())
    }

    /// Lowest and highest corner of the instances at rest, without the ground of a model that has none of its own.
    fn bounds(&self, py: Python<'_>) -> PyResult<([f32; 3], [f32; 3])> {
        let scene = self.scene(py)?;
        let bounds = py.detach(|| scene.bounds_without_stage());
        Ok((bounds.min.into(), bounds.max.into()))
    }

    /// Vertices (n, 3) and triangles (m, 3) of the instances of [`Self::bounds`] in world space.
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let scene = self.scene(py)?;
        let (vertices, triangles) = py.detach(|| geometry::at_rest(&scene)).map_err(raised)?;
        Ok((table(py, vertices)?, table(py, triangles)?))
    }

    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.scene(py)?.warnings.clone())
    }

    /// Names of all instances, in the order of their numbers.
    fn instance_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let scene = self.scene(py)?;
        let mut names = Vec::with_capacity(scene.instances.len());
        visit_instances(&scene, &mut |name| names.push(name.to_owned()));
        Ok(names)
    }

    /// Names of all materials, in the order of their numbers.
    fn material_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let scene = self.scene(py)?;
        let mut names = Vec::new();
        scene.visit_material_names(|name| names.push(name.to_owned()));
        Ok(names)
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Source {
    fn of(origin: Origin) -> Self {
        Self { origin, contents: Mutex::default(), placed: Mutex::default() }
    }

    /// Transforms of instances that were moved.
    pub fn placed(&self) -> Option<Arc<Placements>> {
        lock(&self.placed).clone()
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    fn scene(&self, py: Python<'_>) -> PyResult<Arc<Scene>> {
        py.detach(|| {
            let mut contents = lock(&self.contents);
            if let Some(scene) = &*contents {
                return Ok(scene.clone());
            }
            let scene = match &self.origin {
                Origin::Built(scene) => scene.clone(),
                Origin::File { path, options } => Arc::new(loader::load_with(path, options)?),
            };
            Ok(contents.insert(scene).clone())
        })
        .map_err(|error: loader::LoadError| raised(error))
    }
}

/// Numbers of the instances of an entry in the list of instances.
fn instances(scene: &Scene, entry: u32) -> Range<u32> {
    scene.placed.iter().find(|run| run.entry == entry).map(|run| run.instances.clone()).unwrap_or_default()
}

/// A mesh of a scene that is built in code.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct MeshFields<'py> {
    name: String,
    vertices: PyReadonlyArrayDyn<'py, f32>,
    triangles: PyReadonlyArrayDyn<'py, u32>,
    normals: Option<PyReadonlyArrayDyn<'py, f32>>,
    uvs: Option<PyReadonlyArrayDyn<'py, f32>>,
    colors: Option<PyReadonlyArrayDyn<'py, f32>>,
}

/// Instances of a mesh.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct InstanceFields<'py> {
    of: String,
    /// Shape (n, 3, 4).
    matrices: PyReadonlyArrayDyn<'py, f32>,
    /// Times in seconds, if the instances move: `matrices` then has those of all instances at each time.
    times: Vec<f64>,
    /// Names of materials: none, one, or one per instance.
    materials: Vec<String>,
}

impl MeshFields<'_> {
    fn mesh(&self) -> PyResult<TriangleMesh> {
        let wrong = |message: String| PyValueError::new_err(format!("mesh `{}`: {message}", self.name));
        let positions = rows::<3>("vertices", &self.vertices)?;
        let triangles = any_rows::<u32, 3>("triangles", &self.triangles)?;
        let count = positions.len();
        if triangles.is_empty() {
            return Err(wrong("it has no triangles: give at least one".into()));
        }
        if let Some(index) = triangles.iter().position(|corners| corners.iter().any(|&corner| corner as usize >= count))
        {
            let corners = triangles[index];
            return Err(wrong(format!("triangles[{index}] is {corners:?}, and there are {count} vertices")));
        }
        let of_vertices = |name: &str, length: usize| match length {
            0 => Ok(()),
            _ if length == count => Ok(()),
            _ => Err(wrong(format!("there are {length} {name} and {count} vertices: give one for each"))),
        };
        let normals = self.normals.as_ref().map_or(Ok(Vec::new()), |array| rows::<3>("normals", array))?;
        let uvs = self.uvs.as_ref().map_or(Ok(Vec::new()), |array| rows::<2>("uvs", array))?;
        let colors = self.colors.as_ref().map_or(Ok(Vec::new()), |array| rows::<4>("colors", array))?;
        of_vertices("normals", normals.len())?;
        of_vertices("uvs", uvs.len())?;
        of_vertices("colors", colors.len())?;
        let unit = |normal: [f32; 3]| Vec3::from(normal).try_normalize();
        let normals: Option<Vec<Vec3>> = normals.into_iter().map(unit).collect();
        let normals = normals.ok_or_else(|| wrong("a normal has the length 0".into()))?;
        let normals = normals.into_iter().map(Into::into).collect();
        Ok(TriangleMesh { positions, triangles, normals, uvs, colors, ..TriangleMesh::default() })
    }
}

impl InstanceFields<'_> {
    fn placement(&self) -> PyResult<Placement> {
        let transforms = transforms(&self.matrices)?;
        let placed = Matrices::new(self.of.clone(), transforms, self.materials.clone());
        Ok(Placement::Matrices(Matrices { times: self.times.as_slice().into(), ..placed }))
    }
}

/// The transforms in an array of shape (n, 3, 4).
fn transforms(matrices: &PyReadonlyArrayDyn<'_, f32>) -> PyResult<Arc<[Affine3]>> {
    let shape = matrices.shape();
    if shape.len() != 3 || shape[1..] != [3, 4] {
        return Err(PyValueError::new_err(format!("matrices have the shape {shape:?}: it must be (n, 3, 4)")));
    }
    let view = matrices.as_array();
    let column = |index: usize, column: usize| Vec3::from_array(std::array::from_fn(|row| view[[index, row, column]]));
    let transform = |index: usize| Affine3 {
        matrix3: Mat3::from_cols(column(index, 0), column(index, 1), column(index, 2)),
        translation: column(index, 3),
    };
    Ok((0..shape[0]).map(transform).collect())
}

/// A picture in memory: (height, width, 4) bytes or floats.
#[derive(FromPyObject)]
pub enum PictureFields<'py> {
    Bytes(PyReadonlyArrayDyn<'py, u8>),
    Floats(PyReadonlyArrayDyn<'py, f32>),
}

impl PictureFields<'_> {
    fn image(&self) -> PyResult<TexelImage> {
        let (shape, texels) = match self {
            Self::Bytes(array) => (array.shape(), Texels::Srgb8(pixels(array)?)),
            Self::Floats(array) => (array.shape(), Texels::Linear(pixels(array)?)),
        };
        let &[height, width, 4] = shape else {
            return Err(PyValueError::new_err(format!(
                "a picture has the shape {shape:?}: it must be (height, width, 4)"
            )));
        };
        let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        Ok(TexelImage { width: side(width), height: side(height), texels })
    }
}

/// The pixels of an array of shape (height, width, 4).
fn pixels<T: numpy::Element + Copy>(array: &PyReadonlyArrayDyn<'_, T>) -> PyResult<Vec<[T; 4]>> {
    let values = array.as_slice()?;
    Ok(values.as_chunks::<4>().0.to_vec())
}

/// Builds a scene from the text of a scene file and from meshes, instances and pictures in memory.
#[pyfunction]
pub fn build(
    py: Python<'_>,
    name: String,
    text: String,
    meshes: Vec<MeshFields<'_>>,
    instances: Vec<InstanceFields<'_>>,
    pictures: Vec<(String, PictureFields<'_>)>,
) -> PyResult<Source> {
    let mut file: SceneFile = text.parse().map_err(raised)?;
    for mesh in &meshes {
        file.meshes.push(mesh.name.clone(), MeshDesc::Triangles(mesh.mesh()?));
    }
    for placed in &instances {
        file.instances.push(placed.placement()?);
    }
    for (name, picture) in &pictures {
        file.pictures.push(name.clone(), Arc::new(picture.image()?));
    }
    let scene = py.detach(|| loader::build(&name, &file)).map_err(raised)?;
    Ok(Source::of(Origin::Built(Arc::new(scene))))
}
