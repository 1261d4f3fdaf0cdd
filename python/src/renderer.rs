//! Renderers, which render on a thread of their own.

use crate::{
    Error, arrays, files,
    frame::{Frame, Names, Picture},
    raised,
    scene::{Origin, Source},
    views::{ViewFields, views},
};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::{
    ffi::OsString,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    process,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use throng::{DeviceChoice, FrameProgress, GpuImage, Ray, cli};

/// Frames that may wait for Python. One is taken while the next is rendered.
const WAITING: usize = 2;
/// Stack of the rendering thread, in bytes.
const STACK: usize = 16 << 20;
/// How often a waiting call looks for Ctrl-C.
pub const LOOK: Duration = Duration::from_millis(50);

/// The error of a call whose thread panicked.
pub const LOST: &str = "the rendering thread failed: standard error has the message";

/// Renders frames of one scene on one device, and keeps both.
#[pyclass(frozen)]
pub struct Renderer {
    source: Py<Source>,
    idle: Idle,
    names: Arc<Names>,
    /// Whether frames stay on the GPU.
    on_gpu: bool,
    /// The process that made it. Threads and devices do not survive a fork.
    process: u32,
}

/// The library's renderer, unless it is at work.
type Idle = Arc<Mutex<Option<throng::Renderer>>>;

fn lock(idle: &Idle) -> MutexGuard<'_, Option<throng::Renderer>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The library's renderer while it works. It is idle again once this is dropped, also after a panic: then it opens its device again.
pub struct AtWork {
    renderer: ManuallyDrop<throng::Renderer>,
    idle: Idle,
}

impl Deref for AtWork {
    type Target = throng::Renderer;

    fn deref(&self) -> &throng::Renderer {
        &self.renderer
    }
}

impl DerefMut for AtWork {
    fn deref_mut(&mut self) -> &mut throng::Renderer {
        &mut self.renderer
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        // SAFETY: the renderer is taken once, here.
        let renderer = unsafe { ManuallyDrop::take(&mut self.renderer) };
        *lock(&self.idle) = Some(renderer);
    }
}

/// Starts a rendering thread.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> PyResult<JoinHandle<()>> {
    let thread = thread::Builder::new().name("render".into()).stack_size(STACK).spawn(work);
    thread.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))
}

/// What a call returns.
#[derive(Clone, Copy)]
enum Form {
    Host,
    Gpu,
    /// All frames as one, on a GPU.
    GpuBatch,
}

#[pymethods]
impl Renderer {
    /// `flags` are flags of `throng render` for pictures. With `on_gpu`, frames stay in the GPU's memory. `ids` replace the numbers of instances.
    #[new]
    fn new(
        source: Py<Source>,
        flags: Vec<OsString>,
        device: &str,
        threads: u16,
        on_gpu: bool,
        ids: Option<Vec<i32>>,
    ) -> PyResult<Self> {
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
        let (idle, names) = (Arc::new(Mutex::new(Some(renderer))), Arc::new(Names::with_ids(ids)));
        Ok(Self { source, idle, names, on_gpu, process: process::id() })
    }

    /// Begins to render frames `numbers` of `views`, or of the scene's own cameras if there are none.
    /// `watcher` is called with the number of frames that are done, and of all.
    fn frames(
        &self,
        numbers: Vec<u32>,
        views: Vec<ViewFields>,
        size: Option<(u32, u32)>,
        watcher: Option<Py<PyAny>>,
    ) -> PyResult<Frames> {
        let form = if self.on_gpu { Form::Gpu } else { Form::Host };
        Frames::begin(self.prepared(&views, size)?, (numbers, form), self.names.clone(), watcher)
    }

    /// Renders frames to one on the GPU, with arrays for all of them; otherwise as [`Self::frames`].
    fn batch(
        &self,
        py: Python<'_>,
        numbers: Vec<u32>,
        views: Vec<ViewFields>,
        size: Option<(u32, u32)>,
        watcher: Option<Py<PyAny>>,
    ) -> PyResult<Frame> {
        let work = (numbers, Form::GpuBatch);
        let frames = Frames::begin(self.prepared(&views, size)?, work, self.names.clone(), watcher)?;
        let batch = frames.__next__(py)?.ok_or_else(|| PyRuntimeError::new_err(LOST));
        frames.close(py);
        batch
    }

    /// Writes frames to files. `flags` are flags of `throng render` for frames and files; views and sizes are as for [`Self::frames`]. `watcher` is
    /// called with the number of frames that are written. Returns that number.
    fn write(
        &self,
        py: Python<'_>,
        flags: Vec<OsString>,
        views: Vec<ViewFields>,
        size: Option<(u32, u32)>,
        watcher: Option<Py<PyAny>>,
    ) -> PyResult<u32> {
        let options = cli::frame_options(flags).map_err(raised)?;
        let renderer = self.prepared(&views, size)?;
        files::write(py, renderer, options, watcher)
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
                return Err(PyValueError::new_err(message));
            }
            rays.iter_mut().zip(distances).for_each(|(ray, distance)| ray.t_max = distance);
        }
        let hits = self.with_renderer(py, |renderer| renderer.occluded(number, &rays))?;
        Ok(PyArray1::from_vec(py, hits))
    }
}

impl Renderer {
    fn take(&self) -> PyResult<AtWork> {
        if process::id() != self.process {
            let message = "this renderer belongs to the process before the fork: make one in the child, or start \
                           processes by multiprocessing.set_start_method(\"spawn\")";
            return Err(PyRuntimeError::new_err(message));
        }
        let renderer = lock(&self.idle).take().ok_or_else(|| {
            PyRuntimeError::new_err("this renderer is at work: take all of its frames first, or close their iterator")
        })?;
        let mut renderer = AtWork { renderer: ManuallyDrop::new(renderer), idle: self.idle.clone() };
        renderer.set_placements(self.source.get().placed());
        Ok(renderer)
    }

    /// Takes the renderer for frames of these views and this size.
    fn prepared(&self, views: &[ViewFields], size: Option<(u32, u32)>) -> PyResult<AtWork> {
        let views = self::views(views)?;
        let mut renderer = self.take()?;
        renderer.set_views(views);
        renderer.set_size(size);
        Ok(renderer)
    }

    fn with_renderer<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut throng::Renderer) -> Result<T, throng::Error> + Send,
    ) -> PyResult<T> {
        let mut renderer = self.take()?;
        py.detach(move || work(&mut renderer)).map_err(raised)
    }
}

fn rays(origins: &PyReadonlyArrayDyn<'_, f32>, directions: &PyReadonlyArrayDyn<'_, f32>) -> PyResult<Vec<Ray>> {
    let origins = arrays::rows::<3>("origins", origins)?;
    let directions = arrays::rows::<3>("directions", directions)?;
    if origins.len() != directions.len() {
        let message = format!("there are {} origins and {} directions", origins.len(), directions.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(origins.into_iter().zip(directions).map(|(origin, direction)| Ray::new(origin, direction)).collect())
}

/// Frames under way: an iterator.
#[pyclass(frozen)]
pub struct Frames {
    work: Mutex<Work>,
    stop: Arc<AtomicBool>,
    /// Number of frames of the call.
    count: usize,
    watcher: Option<Py<PyAny>>,
}

struct Work {
    ready: Receiver<Result<Picture, throng::Error>>,
    thread: Option<JoinHandle<()>>,
    found: Arc<Found>,
    /// Number of frames that were taken.
    taken: usize,
}

/// What the rendering thread finds out.
struct Found {
    names: Arc<Names>,
    /// Progress of the frame under way, if the device reports it.
    progress: OnceLock<Arc<FrameProgress>>,
    /// Number of frames that are rendered, of a call that returns all at once.
    rendered: AtomicUsize,
}

impl Frames {
    fn begin(
        mut renderer: AtWork,
        (numbers, form): (Vec<u32>, Form),
        names: Arc<Names>,
        watcher: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let count = numbers.len();
        let stop = Arc::new(AtomicBool::new(false));
        let (send, ready) = sync_channel(WAITING);
        let found = Arc::new(Found { names, progress: OnceLock::new(), rendered: AtomicUsize::new(0) });
        let (stopped, finds) = (stop.clone(), found.clone());
        let thread = spawn(move || {
            render(&mut renderer, (&numbers, form), &send, (&stopped, &finds));
            // The renderer is idle before the channel closes.
            drop(renderer);
        })?;
        let work = Work { ready, thread: Some(thread), found, taken: 0 };
        Ok(Self { work: Mutex::new(work), stop, count, watcher })
    }

    /// Ends the work. Returns whether the thread panicked.
    fn end(&self, work: &mut Work) -> bool {
        self.stop.store(true, Ordering::Relaxed);
        // The thread may wait for room.
        while work.ready.recv().is_ok() {}
        work.thread.take().is_some_and(|thread| thread.join().is_err())
    }
}

/// Renders frames until an error, a stop, or the end of the receiver.
fn render(
    renderer: &mut throng::Renderer,
    (numbers, form): (&[u32], Form),
    send: &SyncSender<Result<Picture, throng::Error>>,
    (stop, found): (&AtomicBool, &Found),
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
    // Their errors are those of rendering, too.
    if let Ok(scene) = renderer.scene() {
        found.names.scene.get_or_init(|| scene.clone());
    }
    if let Ok(Some(progress)) = renderer.progress() {
        found.progress.get_or_init(|| progress);
    }
    let stopped = || stop.load(Ordering::Relaxed);
    let give = |picture| if stopped() { Err(End::Told) } else { send.send(Ok(picture)).map_err(|_| End::Told) };
    let numbers = numbers.iter().copied();
    let rendered = match form {
        Form::Host => renderer.layered(numbers, &stopped, |image| give(Picture::Host(Box::new(image)))),
        Form::Gpu => renderer.kept(numbers, &stopped, |image| give(Picture::Gpu(image))),
        Form::GpuBatch => {
            let mut images = Vec::new();
            let all = renderer.kept(numbers, &stopped, |image| {
                images.push(image);
                found.rendered.store(images.len(), Ordering::Relaxed);
                if stopped() { Err(End::Told) } else { Ok(()) }
            });
            all.and_then(|()| give(Picture::GpuBatch(GpuImage::joined(images)?)))
        }
    };
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
            let (next, found, taken, panicked) = py.detach(|| {
                let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
                let next = work.ready.recv_timeout(LOOK);
                let mut panicked = false;
                match &next {
                    Ok(Ok(picture)) => work.taken += picture.count(),
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => panicked = self.end(&mut work),
                }
                (next, work.found.clone(), work.taken, panicked)
            });
            match next {
                Ok(Ok(picture)) => {
                    self.watch(py, taken as f64)?;
                    return Ok(Some(Frame { picture, names: found.names.clone() }));
                }
                Ok(Err(error)) => return Err(Error::new_err(error.to_string())),
                Err(RecvTimeoutError::Disconnected) if panicked => return Err(PyRuntimeError::new_err(LOST)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {
                    let share = found.progress.get().map_or(0.0, |progress| progress.share());
                    let rendered = found.rendered.load(Ordering::Relaxed);
                    self.watch(py, (taken + rendered) as f64 + share)?;
                }
            }
        }
    }

    /// Ends the work.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.end(&mut self.work.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

impl Frames {
    /// Reports how many frames are done. Ends the work on Ctrl-C, and on an exception of the watcher.
    fn watch(&self, py: Python<'_>, done: f64) -> PyResult<()> {
        let told = self.watcher.as_ref().map_or(Ok(()), |watcher| watcher.call1(py, (done, self.count)).map(drop));
        told.and_then(|()| py.check_signals()).inspect_err(|_| self.close(py))
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
