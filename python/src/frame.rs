//! Rendered frames.

use crate::{arrays, gpu::GpuArray, raised};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, OnceLock},
};
use throng::{GpuImage, LayeredImage};
use throng_device::Plane;
use throng_picture::aov::{Aov, AovImage, cryptomatte, paths};

/// A frame as the library renders it.
pub enum Picture {
    Host(Box<LayeredImage>),
    Gpu(GpuImage),
}

/// Numbers of instances and materials by their ids in layers.
#[derive(Default)]
pub struct Names {
    pub scene: OnceLock<Arc<throng::Scene>>,
    instances: OnceLock<HashMap<u32, i32>>,
    materials: OnceLock<HashMap<u32, i32>>,
}

/// Visits names in the order of their numbers.
type Visit = fn(&throng::Scene, &mut dyn FnMut(&str));

impl Names {
    fn numbers(&self, aov: Aov) -> &HashMap<u32, i32> {
        let (table, visit): (_, Visit) = match aov {
            Aov::Material => (&self.materials, |scene, each| scene.visit_material_names(each)),
            _ => (&self.instances, visit_instances),
        };
        table.get_or_init(|| {
            let (mut numbers, mut number) = (HashMap::new(), 0);
            if let Some(scene) = self.scene.get() {
                visit(scene, &mut |name| {
                    numbers.entry(cryptomatte::id(name)).or_insert(number);
                    number += 1;
                });
            }
            numbers
        })
    }
}

/// Visits the names of all instances of meshes, in the order of their numbers. In scenes with assemblies, names are paths.
pub fn visit_instances(scene: &throng::Scene, each: &mut dyn FnMut(&str)) {
    if scene.has_levels() {
        paths::visit(scene, each);
    } else {
        scene.visit_instance_names(each);
    }
}

/// A rendered frame.
#[pyclass(frozen)]
pub struct Frame {
    pub picture: Picture,
    pub names: Arc<Names>,
}

#[pymethods]
impl Frame {
    #[getter]
    fn number(&self) -> u32 {
        match &self.picture {
            Picture::Host(image) => image.number(),
            Picture::Gpu(image) => image.number(),
        }
    }

    /// Whether its arrays are on a GPU.
    #[getter]
    fn on_gpu(&self) -> bool {
        matches!(self.picture, Picture::Gpu(_))
    }

    /// Width and height in pixels.
    #[getter]
    fn size(&self) -> (u32, u32) {
        match &self.picture {
            Picture::Host(image) => (image.radiance().width(), image.radiance().height()),
            Picture::Gpu(image) => image.size(),
        }
    }

    /// Display colours: (height, width, 3 or 4) bytes; 3 on a GPU.
    fn srgb<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.picture {
            Picture::Host(image) => {
                let image = py.detach(|| image.display()).map_err(raised)?;
                let shape = (image.width(), image.height(), image.channels());
                arrays::image(py, image.into_pixels(), shape)
            }
            Picture::Gpu(image) => on_gpu(py, image, Plane::Display),
        }
    }

    /// Linear radiance: (height, width, 3 or 4) floats, multiplied by alpha; 3 on a GPU.
    fn linear<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.picture {
            Picture::Host(image) => {
                let image = image.radiance();
                arrays::image(py, image.pixels().to_vec(), (image.width(), image.height(), image.channels()))
            }
            Picture::Gpu(image) => on_gpu(py, image, Plane::Radiance),
        }
    }

    /// Names of the layers that the frame has.
    fn layers(&self) -> Vec<&'static str> {
        match &self.picture {
            Picture::Host(image) => image.layers().iter().map(|layer| layer.aov.name()).collect(),
            Picture::Gpu(image) => image.layers().iter().map(|aov| aov.name()).collect(),
        }
    }

    /// A layer as floats, (height, width) or (height, width, channels). None if the frame lacks it.
    fn layer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Picture::Gpu(image) = &self.picture {
            let aov = image.layers().iter().find(|aov| aov.name() == name);
            return aov.map(|aov| on_gpu(py, image, Plane::Aov(aov))).transpose();
        }
        let Some(layer) = self.found(name) else { return Ok(None) };
        let (width, height) = self.size();
        arrays::image(py, layer.values.to_vec(), (width, height, layer.aov.channels())).map(Some)
    }

    /// The instance or material that covers most of each pixel: its number, or -1. None if the frame lacks the layer.
    fn numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(layer) = self.found(name).filter(|layer| layer.aov.is_matte()) else { return Ok(None) };
        let (width, height) = self.size();
        let channels = layer.aov.channels();
        let numbers = py.detach(|| {
            let known = self.names.numbers(layer.aov);
            let number = |pairs: &[f32]| if pairs[1] > 0.0 { known.get(&pairs[0].to_bits()).copied() } else { None };
            layer.values.chunks_exact(channels).map(|pairs| number(pairs).unwrap_or(-1)).collect()
        });
        arrays::image::<i32>(py, numbers, (width, height, 1)).map(Some)
    }

    /// Writes the picture: display colours to .png, .jpg or .webp, radiance to .exr.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Picture::Host(image) = &self.picture else {
            let message = "this frame is on a GPU: save frames of a renderer without on_gpu";
            return Err(PyValueError::new_err(message));
        };
        let is_linear = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("exr"));
        py.detach(|| if is_linear { image.radiance().save(&path) } else { image.display()?.save(&path) })
            .map_err(raised)
    }
}

impl Frame {
    fn found(&self, name: &str) -> Option<&AovImage> {
        match &self.picture {
            Picture::Host(image) => image.layers().iter().find(|layer| layer.aov.name() == name),
            Picture::Gpu(_) => None,
        }
    }
}

/// An image of a frame on a GPU.
fn on_gpu<'py>(py: Python<'py>, image: &GpuImage, plane: Plane) -> PyResult<Bound<'py, PyAny>> {
    let array = GpuArray::of(image, plane).ok_or_else(|| PyRuntimeError::new_err("the frame lacks this image"))?;
    Ok(Bound::new(py, array)?.into_any())
}
