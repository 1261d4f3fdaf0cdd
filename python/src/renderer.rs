//! Renderers, which render on a thread of their own, and their frames.

use crate::{
    Error, arrays, raised,
    scene::{Origin, Source},
    views::{ViewFields, views},
};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyDict};
use std::{
    collections::HashMap,
    ffi::OsString,
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use throng::{DeviceChoice, LayeredImage, Ray, cli};
use throng_picture::aov::{Aov, AovImage, cryptomatte, paths};

/// Frames that may wait for Python. One is taken while the next is rendered.
const WAITING: usize = 2;
/// Stack of the rendering thread, in bytes.
const STACK: usize = 16 << 20;
/// How often a waiting call looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Renders frames of one scene on one device, and keeps both.
#[pyclass(frozen)]
pub struct Renderer {
    source: Py<Source>,
    idle: Idle,
    /// The process that made it. Threads and devices do not survive a fork.
    process: u32,
}

/// The library's renderer, unless it is at work.
type Idle = Arc<Mutex<Option<throng::Renderer>>>;

fn lock(idle: &Idle) -> MutexGuard<'_, Option<throng::Renderer>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Renderer {
    /// `flags` are flags of `throng render` for pictures.
    #[new]
    fn new(source: Py<Source>, flags: Vec<OsString>, device: &str, threads: u16) -> PyResult<Self> {
        let mut options = cli::picture_options(flags).map_err(raised)?;
        let device: DeviceChoice = device.parse().map_err(raised)?;
        let renderer = match source.get().origin() {
            Origin::File { path, options: load } => {
                options.load = (**load).clone();
                throng::Renderer::open(path)
            }
            Origin::Built(scene) => throng::Renderer::from_scene(scene.clone()),
        };
        let renderer = renderer.map_err(raised)?.with(|own| *own = options).device(device).threads(threads);
        Ok(Self { source, idle: Arc::new(Mutex::new(Some(renderer))), process: process::id() })
    }

    /// Begins to render frames `numbers` of `views`, or of the scene's own cameras if there are none.
    fn frames(&self, numbers: Vec<u32>, views: Vec<ViewFields>, size: Option<(u32, u32)>) -> PyResult<Frames> {
        let views = self::views(&views)?;
        let mut renderer = self.take()?;
        renderer.set_views(views);
        if let Some((width, height)) = size {
            renderer.set_size(width, height);
        }
        Frames::begin((renderer, self.idle.clone()), numbers)
    }

    /// Nearest hits of rays in a frame: distance, normal, barycentric weights, primitive, mesh, instance and material. A miss has an infinite
    /// distance and the instance -1.
    fn trace<'py>(
        &self,
        py: Python<'py>,
        number: u32,
        origins: PyReadonlyArrayDyn<'py, f32>,
        directions: PyReadonlyArrayDyn<'py, f32>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rays = rays(&origins, &directions)?;
        let hits = self.with_renderer(py, |renderer| renderer.trace(number, &rays))?;
        let out = PyDict::new(py);
        let rows = |values: Vec<f32>, columns: usize| PyArray1::from_vec(py, values).reshape([hits.len(), columns]);
        let index = |of: fn(&throng::Hit) -> u32| {
            let values = hits.iter().map(|hit| hit.as_ref().map_or(-1, |hit| of(hit) as i32)).collect();
            PyArray1::from_vec(py, values)
        };
        let distances = hits.iter().map(|hit| hit.as_ref().map_or(f32::INFINITY, |hit| hit.distance)).collect();
        out.set_item("distance", PyArray1::<f32>::from_vec(py, distances))?;
        let normals = hits.iter().flat_map(|hit| hit.as_ref().map_or([0.0; 3], |hit| hit.normal)).collect();
        out.set_item("normal", rows(normals, 3)?)?;
        let barycentrics = hits.iter().flat_map(|hit| hit.as_ref().map_or([0.0; 2], |hit| hit.barycentrics)).collect();
        out.set_item("barycentrics", rows(barycentrics, 2)?)?;
        out.set_item("primitive", index(|hit| hit.primitive))?;
        out.set_item("mesh", index(|hit| hit.mesh))?;
        out.set_item("instance", index(|hit| hit.instance))?;
        out.set_item("material", index(|hit| hit.material))?;
        Ok(out)
    }

    /// Whether each ray hits anything.
    fn occluded<'py>(
        &self,
        py: Python<'py>,
        number: u32,
        origins: PyReadonlyArrayDyn<'py, f32>,
        directions: PyReadonlyArrayDyn<'py, f32>,
        distances: Option<PyReadonlyArrayDyn<'py, f32>>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let mut rays = rays(&origins, &directions)?;
        if let Some(distances) = distances {
            let distances: Vec<f32> = distances.as_array().iter().copied().collect();
            if distances.len() != rays.len() {
                let message = format!("there are {} distances and {} rays", distances.len(), rays.len());
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
            rays.iter_mut().zip(distances).for_each(|(ray, distance)| ray.t_max = distance);
        }
        let hits = self.with_renderer(py, |renderer| renderer.occluded(number, &rays))?;
        Ok(PyArray1::from_vec(py, hits))
    }
}

impl Renderer {
    fn take(&self) -> PyResult<throng::Renderer> {
        if process::id() != self.process {
            let message = "this renderer belongs to the process before the fork: make one in the child, or start \
                           processes by multiprocessing.set_start_method(\"spawn\")";
            return Err(PyRuntimeError::new_err(message));
        }
        let mut renderer = lock(&self.idle).take().ok_or_else(|| {
            PyRuntimeError::new_err("this renderer is at work: take all of its frames first, or close their iterator")
        })?;
        renderer.set_placements(self.source.get().placed());
        Ok(renderer)
    }

    fn with_renderer<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut throng::Renderer) -> Result<T, throng::Error> + Send,
    ) -> PyResult<T> {
        let mut renderer = self.take()?;
        let (renderer, result) = py.detach(move || {
            let result = work(&mut renderer);
            (renderer, result)
        });
        *lock(&self.idle) = Some(renderer);
        result.map_err(raised)
    }
}

fn rays(origins: &PyReadonlyArrayDyn<'_, f32>, directions: &PyReadonlyArrayDyn<'_, f32>) -> PyResult<Vec<Ray>> {
    let origins = arrays::rows::<3>("origins", origins)?;
    let directions = arrays::rows::<3>("directions", directions)?;
    if origins.len() != directions.len() {
        let message = format!("there are {} origins and {} directions", origins.len(), directions.len());
        return Err(pyo3::exceptions::PyValueError::new_err(message));
    }
    Ok(origins.into_iter().zip(directions).map(|(origin, direction)| Ray::new(origin, direction)).collect())
}

/// Frames under way: an iterator.
#[pyclass(frozen)]
pub struct Frames {
    work: Mutex<Work>,
    stop: Arc<AtomicBool>,
}

struct Work {
    ready: Receiver<Result<LayeredImage, throng::Error>>,
    thread: Option<JoinHandle<()>>,
    /// Numbers of the scene's instances and materials by their Cryptomatte ids, once they are needed.
    names: Arc<Names>,
}

impl Frames {
    fn begin((mut renderer, idle): (throng::Renderer, Idle), numbers: Vec<u32>) -> PyResult<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (send, ready) = sync_channel(WAITING);
        let names = Arc::new(Names::default());
        let (stopped, found) = (stop.clone(), names.clone());
        let work = move || {
            render(&mut renderer, &numbers, &send, (&stopped, &found));
            *lock(&idle) = Some(renderer);
        };
        let thread = thread::Builder::new().name("render".into()).stack_size(STACK).spawn(work);
        let thread = thread.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
        Ok(Self { work: Mutex::new(Work { ready, thread: Some(thread), names }), stop })
    }

    fn end(&self, work: &mut Work) {
        self.stop.store(true, Ordering::Relaxed);
        // The thread may wait for room.
        while work.ready.recv().is_ok() {}
        if let Some(thread) = work.thread.take() {
            // A panic has been printed.
            let _ = thread.join();
        }
    }
}

/// Renders frames until an error, a stop, or the end of the receiver.
fn render(
    renderer: &mut throng::Renderer,
    numbers: &[u32],
    send: &SyncSender<Result<LayeredImage, throng::Error>>,
    (stop, names): (&AtomicBool, &Names),
) {
    enum End {
        Told,
        Failed(throng::Error),
    }
    impl From<throng::Error> for End {
        fn from(error: throng::Error) -> Self {
            Self::Failed(error)
        }
    }
    if let Ok(scene) = renderer.scene() {
        names.scene.get_or_init(|| scene.clone());
    }
    let stopped = || stop.load(Ordering::Relaxed);
    let rendered = renderer.layered(numbers.iter().copied(), &stopped, |image| {
        if stopped() { Err(End::Told) } else { send.send(Ok(image)).map_err(|_| End::Told) }
    });
    if let Err(End::Failed(error)) = rendered
        && !error.is_stop()
    {
        // Nobody waits for an error any more if the receiver is gone.
        let _ = send.send(Err(error));
    }
}

#[pymethods]
impl Frames {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Frame>> {
        loop {
            let next = py.detach(|| {
                let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
                let next = work.ready.recv_timeout(LOOK);
                if !matches!(next, Ok(Ok(_)) | Err(RecvTimeoutError::Timeout)) {
                    self.end(&mut work);
                }
                (next, work.names.clone())
            });
            match next {
                (Ok(Ok(image)), names) => return Ok(Some(Frame { image, names })),
                (Ok(Err(error)), _) => return Err(Error::new_err(error.to_string())),
                (Err(RecvTimeoutError::Disconnected), _) => return Ok(None),
                (Err(RecvTimeoutError::Timeout), _) => {
                    if let Err(interrupted) = py.check_signals() {
                        self.close(py);
                        return Err(interrupted);
                    }
                }
            }
        }
    }

    /// Ends the work.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.end(&mut self.work.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Numbers of instances and materials by their ids in layers.
#[derive(Default)]
struct Names {
    scene: std::sync::OnceLock<Arc<throng::Scene>>,
    instances: std::sync::OnceLock<HashMap<u32, i32>>,
    materials: std::sync::OnceLock<HashMap<u32, i32>>,
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
    image: LayeredImage,
    names: Arc<Names>,
}

#[pymethods]
impl Frame {
    #[getter]
    fn number(&self) -> u32 {
        self.image.number()
    }

    /// Width and height in pixels.
    #[getter]
    fn size(&self) -> (u32, u32) {
        (self.image.radiance().width(), self.image.radiance().height())
    }

    /// Display colours: (height, width, 3 or 4) bytes.
    fn srgb<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let image = py.detach(|| self.image.display()).map_err(raised)?;
        let shape = (image.width(), image.height(), image.channels());
        arrays::image(py, image.into_pixels(), shape)
    }

    /// Linear radiance: (height, width, 3 or 4) floats, multiplied by alpha.
    fn linear<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let image = self.image.radiance();
        arrays::image(py, image.pixels().to_vec(), (image.width(), image.height(), image.channels()))
    }

    /// Names of the layers that the frame has.
    fn layers(&self) -> Vec<&'static str> {
        self.image.layers().iter().map(|layer| layer.aov.name()).collect()
    }

    /// A layer as floats, (height, width) or (height, width, channels). None if the frame lacks it.
    fn layer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
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
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let is_linear = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("exr"));
        py.detach(|| if is_linear { self.image.radiance().save(&path) } else { self.image.display()?.save(&path) })
            .map_err(raised)
    }
}

impl Frame {
    fn found(&self, name: &str) -> Option<&AovImage> {
        self.image.layers().iter().find(|layer| layer.aov.name() == name)
    }
}
