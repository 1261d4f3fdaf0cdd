//! A device that paints a unique picture for each frame number.

use crate::{process::Process, random::Random};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};
use throng::scene::Scene;
use throng_abi::{Hit, Ray};
use throng_accel::NodeLayout;
use throng_device::{Delivery, Device, DeviceError, Frame, FrameSettings, RayCounts, RayKind, Rendered, Stop};

/// Width and height of pictures.
pub const SIZE: u32 = 16;

/// RGB pixels of a frame's picture: random noise, which no encoder compresses.
pub fn picture_of(frame: u32) -> Vec<u8> {
    let mut random = Random::new(&[u64::from(frame)]);
    (0..SIZE * SIZE * 3).map(|_| random.next() as u8).collect()
}

pub struct Painter {
    pub process: Arc<Process>,
    /// How often each frame was painted, by frame number; shared by all workers.
    pub painted: Arc<Vec<AtomicU32>>,
    /// Time for which the process is suspended during one of the next frames.
    pub hangs: Option<Duration>,
    pub under_way: VecDeque<u32>,
}

impl Device for Painter {
    fn describe(&self) -> String {
        "painter".into()
    }

    fn threads(&self) -> usize {
        1
    }

    fn node_layout(&self) -> NodeLayout {
        NodeLayout::Wide4
    }

    fn queue_depth(&self) -> usize {
        1
    }

    fn load(&mut self, _: Arc<Scene>) -> Result<(), DeviceError> {
        self.under_way.clear();
        Ok(())
    }

    fn submit(&mut self, frame: Frame, _: &FrameSettings, _: Delivery) -> Result<(), DeviceError> {
        self.under_way.push_back(frame.number());
        Ok(())
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        let frame = self.under_way.pop_front().ok_or_else(|| DeviceError::Failed("no frame".into()))?;
        let (micros, is_now) = {
            let mut random = self.process.random();
            (random.next() % 4000, random.once_in(4))
        };
        thread::sleep(Duration::from_micros(micros));
        if let Some(time) = self.hangs.take_if(|_| is_now) {
            self.process.hung.store(true, Ordering::Relaxed);
            thread::sleep(time);
            self.process.hung.store(false, Ordering::Relaxed);
        }
        if stop() {
            return Err(DeviceError::Stopped);
        }
        self.painted[frame as usize].fetch_add(1, Ordering::Relaxed);
        Ok(Rendered {
            pixels: picture_of(frame).into(),
            aovs: Vec::new(),
            blocks: None,
            records: None,
            kept: None,
            rays: RayCounts::default(),
            time: Duration::ZERO,
            stages: None,
        })
    }

    fn trace(&mut self, _: &Frame, _: RayKind, _: &[Ray], _: &mut [Hit], _: u32) -> Result<Vec<Duration>, DeviceError> {
        Err(DeviceError::Failed("a painter traces no rays".into()))
    }
}
