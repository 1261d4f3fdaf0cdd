//! A device for tests: draws the frame number, fails on request, and logs its calls.

use super::{
    Delivery, Device, DeviceError, Frame, FrameSettings, OwnRays, RayCounts, RayKind, Rendered, StageTimes, Stop,
};
use crate::batch::Batch;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use throng_abi::{Hit, Ray};
use throng_accel::{NodeLayout, Tlas};
use throng_picture::film::FilmSettings;
use throng_scene::anim::{Moment, camera_at};
use throng_scene::{Integrator, RenderDefaults, Scene, ToneMap};

pub struct FakeDevice {
    depth: usize,
    /// Number of frames per batch.
    pub batch: usize,
    pub layout: NodeLayout,
    /// Number of the frame whose submission fails.
    pub fail_submit: Option<u32>,
    pub fail_collect: Option<u32>,
    /// The stage times to report for every frame.
    pub stages: Option<StageTimes>,
    pub own_rays: Option<OwnRays>,
    under_way: VecDeque<FakeFrame>,
    log: Log,
}

struct FakeFrame {
    number: u32,
    settings: FrameSettings,
    /// Whether the frame was submitted alone or as the first one of a batch.
    begins: bool,
}

/// The calls that a device received, in order; clones share the log.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Step>>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Submit(u32),
    /// The first frame of a batch, and the number of its frames.
    SubmitBatch(u32, usize),
    Collect(u32),
}

impl Log {
    pub fn steps(&self) -> Vec<Step> {
        self.0.lock().unwrap().clone()
    }

    pub fn submitted(&self) -> Vec<u32> {
        let number = |step: Step| match step {
            Step::Submit(number) => Some(number),
            Step::SubmitBatch(..) | Step::Collect(_) => None,
        };
        self.steps().into_iter().filter_map(number).collect()
    }

    fn push(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }
}

impl FakeDevice {
    pub fn new(depth: usize) -> Self {
        Self {
            depth,
            batch: 1,
            layout: NodeLayout::Wide4,
            fail_submit: None,
            fail_collect: None,
            stages: None,
            own_rays: None,
            under_way: VecDeque::new(),
            log: Log::default(),
        }
    }

    pub fn log(&self) -> Log {
        self.log.clone()
    }

    fn start(&mut self, number: u32, settings: &FrameSettings, begins: bool) {
        self.under_way.push_back(FakeFrame { number, settings: settings.clone(), begins });
        assert!(self.under_way.iter().filter(|frame| frame.begins).count() <= self.depth);
    }

    fn fail(&self, asked: Option<u32>, number: u32) -> Result<(), DeviceError> {
        if asked == Some(number) {
            return Err(DeviceError::Failed(format!("frame {number} broke")));
        }
        Ok(())
    }
}

/// A frame of an empty scene.
pub fn frame(number: u32) -> Frame {
    Frame {
        scene: Arc::default(),
        number,
        camera: camera_at(&Scene::default(), &Moment::default()),
        tlas: Arc::new(Tlas::new(NodeLayout::Wide4)),
        blas: Arc::default(),
        shapes: Vec::new(),
        tables: None,
        camera_keys: Vec::new(),
        others: None,
    }
}

pub fn settings() -> FrameSettings {
    FrameSettings {
        width: 4,
        height: 2,
        samples: 1,
        bounces: 0,
        integrator: Integrator::Whitted,
        tone_map: ToneMap::None,
        film: FilmSettings::default(),
        ..FrameSettings::from(&RenderDefaults::default())
    }
}

impl Device for FakeDevice {
    fn describe(&self) -> String {
        format!("fake {}", self.depth)
    }

    fn threads(&self) -> usize {
        1
    }

    fn node_layout(&self) -> NodeLayout {
        self.layout
    }

    fn queue_depth(&self) -> usize {
        self.depth
    }

    fn has_stages(&self) -> bool {
        self.stages.is_some()
    }

    fn load(&mut self, _: Arc<Scene>) -> Result<(), DeviceError> {
        self.under_way.clear();
        Ok(())
    }

    fn submit(&mut self, frame: Frame, settings: &FrameSettings, _: Delivery) -> Result<(), DeviceError> {
        self.log.push(Step::Submit(frame.number));
        self.fail(self.fail_submit, frame.number)?;
        self.start(frame.number, settings, true);
        Ok(())
    }

    fn frames_per_batch(&mut self, _: &FrameSettings, _: Delivery) -> usize {
        self.batch
    }

    fn submit_batch(
        &mut self,
        frames: Vec<Frame>,
        settings: &FrameSettings,
        delivery: Delivery,
    ) -> Result<(), DeviceError> {
        let numbers: Vec<u32> = frames.iter().map(|frame| frame.number).collect();
        self.log.push(Step::SubmitBatch(numbers[0], numbers.len()));
        numbers.iter().try_for_each(|&number| self.fail(self.fail_submit, number))?;
        Batch::new(frames, settings, delivery)?;
        numbers.iter().for_each(|&number| self.start(number, settings, number == numbers[0]));
        Ok(())
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        let FakeFrame { number, settings, .. } = self.under_way.pop_front().unwrap();
        self.log.push(Step::Collect(number));
        self.fail(self.fail_collect, number)?;
        if stop() {
            self.under_way.clear();
            return Err(DeviceError::Stopped);
        }
        Ok(Rendered {
            pixels: vec![number as u8; (settings.width * settings.height * 3) as usize].into(),
            aovs: Vec::new(),
            blocks: None,
            records: None,
            kept: None,
            rays: RayCounts { primary: 1, ..RayCounts::default() },
            time: Duration::from_millis(1),
            stages: self.stages,
        })
    }

    fn own_rays(&mut self, _: &Frame, _: &FrameSettings) -> Result<Option<OwnRays>, DeviceError> {
        Ok(self.own_rays.clone())
    }

    fn trace(
        &mut self,
        _: &Frame,
        _: RayKind,
        _: &[Ray],
        _: &mut [Hit],
        passes: u32,
    ) -> Result<Vec<Duration>, DeviceError> {
        Ok(vec![Duration::from_millis(1); passes as usize])
    }
}
