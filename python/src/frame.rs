//! Rendered frames.

use crate::{arrays, gpu::GpuArray, raised};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};
use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};
use throng::{GpuImage, LayeredImage};
use throng_device::{KeptImage, MatteNumbers};
use throng_picture::aov::{Aov, AovImage, cryptomatte, paths};

/// Frames as the library renders them.
pub enum Picture {
    Host(Box<LayeredImage>),
    Gpu(GpuImage),
    /// All frames of a call.
    GpuBatch(GpuImage),
}

impl Picture {
    /// Number of frames.
    pub fn count(&self) -> usize {
        match self {
            Self::Host(_) => 1,
            Self::Gpu(image) | Self::GpuBatch(image) => image.count(),
        }
    }
}

/// Numbers of instances and materials by their ids in layers.
#[derive(Default)]
pub struct Names {
    pub scene: OnceLock<Arc<throng::Scene>>,
    /// Replace the numbers of instances.
    ids: Option<Vec<i32>>,
    instances: OnceLock<Arc<MatteNumbers>>,
    materials: OnceLock<Arc<MatteNumbers>>,
}

/// Visits names in the order of their numbers.
type Visit = fn(&throng::Scene, &mut dyn FnMut(&str));

impl Names {
    pub fn with_ids(ids: Option<Vec<i32>>) -> Self {
        Self { ids, ..Self::default() }
    }

    fn numbers(&self, aov: Aov) -> &Arc<MatteNumbers> {
        let (table, visit, ids): (_, Visit, _) = match aov {
            Aov::Material => (&self.materials, |scene, each| scene.visit_material_names(each), &None),
            _ => (&self.instances, visit_instances, &self.ids),
        };
        table.get_or_init(|| {
            let mut numbers: Vec<(u32, i32)> = Vec::new();
            if let Some(scene) = self.scene.get() {
                visit(scene, &mut |name| {
                    let number = numbers.len();
                    let own = ids.as_ref().and_then(|ids| ids.get(number).copied());
                    numbers.push((cryptomatte::id(name), own.unwrap_or(number as i32)));
                });
            }
            Arc::new(MatteNumbers::new(numbers))
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
            Picture::Gpu(image) | Picture::GpuBatch(image) => image.number(),
        }
    }

    /// Whether its arrays are on a GPU.
    #[getter]
    fn on_gpu(&self) -> bool {
        !matches!(self.picture, Picture::Host(_))
    }

    /// Width and height in pixels.
    #[getter]
    fn size(&self) -> (u32, u32) {
        match &self.picture {
            Picture::Host(image) => (image.radiance().width(), image.radiance().height()),
            Picture::Gpu(image) | Picture::GpuBatch(image) => image.size(),
        }
    }

    /// Display colours: (height, width, 3 or 4) bytes.
    fn srgb<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.picture {
            Picture::Host(image) => {
                let image = py.detach(|| image.display()).map_err(raised)?;
                let shape = (image.width(), image.height(), image.channels());
                arrays::image(py, image.into_pixels(), shape)
            }
            Picture::Gpu(image) | Picture::GpuBatch(image) => {
                let colors = py.detach(|| image.display()).map_err(raised)?;
                self.on_its_gpu(py, colors)?.ok_or_else(lost)
            }
        }
    }

    /// Linear radiance: (height, width, 3 or 4) floats, multiplied by alpha.
    fn linear<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.picture {
            Picture::Host(image) => {
                let image = image.radiance();
                arrays::image(py, image.pixels().to_vec(), (image.width(), image.height(), image.channels()))
            }
            Picture::Gpu(image) | Picture::GpuBatch(image) => {
                let colors = py.detach(|| image.radiance()).map_err(raised)?;
                self.on_its_gpu(py, colors)?.ok_or_else(lost)
            }
        }
    }

    /// Names of the layers that the frame has.
    fn layers(&self) -> Vec<&'static str> {
        match &self.picture {
            Picture::Host(image) => image.layers().iter().map(|layer| layer.aov.name()).collect(),
            Picture::Gpu(image) | Picture::GpuBatch(image) => image.layers().iter().map(|aov| aov.name()).collect(),
        }
    }

    /// A layer as floats, (height, width) or (height, width, channels). None if the frame lacks it.
    fn layer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Picture::Gpu(image) | Picture::GpuBatch(image) = &self.picture {
            return self
                .on_its_gpu(py, image.layers().iter().find(|aov| aov.name() == name).and_then(|aov| image.layer(aov)));
        }
        let Some(layer) = self.found(name) else { return Ok(None) };
        let (width, height) = self.size();
        arrays::image(py, layer.values.to_vec(), (width, height, layer.aov.channels())).map(Some)
    }

    /// The instance or material that covers most of each pixel: its number, or -1. None if the frame lacks the layer.
    fn numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Picture::Gpu(image) | Picture::GpuBatch(image) = &self.picture {
            let aov = image.layers().iter().find(|aov| aov.is_matte() && aov.name() == name);
            let Some(aov) = aov else { return Ok(None) };
            let numbers = py.detach(|| image.numbers(aov, self.names.numbers(aov))).map_err(raised)?;
            return self.on_its_gpu(py, numbers);
        }
        let Some(layer) = self.found(name).filter(|layer| layer.aov.is_matte()) else { return Ok(None) };
        let (width, height) = self.size();
        let numbers = py.detach(|| self.names.numbers(layer.aov).of_matte(&layer.values, layer.aov.channels()));
        arrays::image(py, numbers, (width, height, 1)).map(Some)
    }

    /// Optical flow in pixels to the right and down, (height, width, 2) floats: to the frame before (`back`) or to the next one. None if the frame
    /// lacks the layer.
    fn flow<'py>(&self, py: Python<'py>, back: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Picture::Gpu(image) | Picture::GpuBatch(image) = &self.picture {
            let flow = py.detach(|| image.flow(back)).map_err(raised)?;
            return self.on_its_gpu(py, flow);
        }
        let Some(layer) = self.found(Aov::Motion.name()) else { return Ok(None) };
        let (width, height) = self.size();
        // Motion is from the next frame, and its y goes up.
        let flow = |&[before_x, before_y, next_x, next_y]: &[f32; 4]| {
            if back { [before_x, -before_y] } else { [-next_x, next_y] }
        };
        let flow = layer.values.as_chunks::<4>().0.iter().flat_map(flow).collect();
        arrays::image::<f32>(py, flow, (width, height, 2)).map(Some)
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
            Picture::Gpu(_) | Picture::GpuBatch(_) => None,
        }
    }

    /// An image on the GPU as an array; all frames of a batch have a common one.
    fn on_its_gpu<'py>(&self, py: Python<'py>, image: Option<KeptImage>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(image) = image else { return Ok(None) };
        let frames = if let Picture::GpuBatch(batch) = &self.picture { Some(batch.count()) } else { None };
        Ok(Some(Bound::new(py, GpuArray::of(image, frames, self.size()))?.into_any()))
    }
}

fn lost() -> PyErr {
    PyRuntimeError::new_err("the frame lacks its picture")
}
