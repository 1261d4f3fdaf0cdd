//! Several devices as one. Each frame goes to the least busy device, and results are returned in the order of submission. A single picture is divided
//! into bands.

mod bands;

use super::{
    Accumulation, Delivery, Device, DeviceError, Frame, FrameSettings, OwnRays, RayKind, Rendered, Samples, Stop,
    WorkCounts,
};
use bands::{bands, joined_films, joined_pictures};
use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use throng_abi::{Hit, Ray};
use throng_accel::NodeLayout;
use throng_base::sync::{lock, unpoisoned};
use throng_scene::Scene;

/// Devices that take frames from one queue.
///
/// This works best for equal devices that work on their own after `submit`, like the GPUs of a machine. A slow member delays the others, because
/// frames are collected in order. Members that do their work in `collect`, like the CPU, work one after the other.
pub struct MultiDevice {
    members: Vec<Member>,
    /// The frames under way, oldest first.
    order: VecDeque<UnderWay>,
}

struct UnderWay {
    /// Index of the frame's member.
    member: usize,
    /// Whether the frame was submitted alone or is the first one of a batch, which takes one place of the member.
    begins: bool,
}

struct Member {
    device: Box<dyn Device>,
    under_way: usize,
}

/// A picture that several devices render together.
struct Shared<'a> {
    /// The first band that is not taken.
    next: AtomicUsize,
    /// Finished films and pictures of bands, by first row.
    taken: Mutex<BTreeMap<u32, (Accumulation, Rendered)>>,
    film: &'a Accumulation,
}

impl Member {
    fn free_places(&self) -> usize {
        self.device.queue_depth().saturating_sub(self.under_way)
    }
}

impl MultiDevice {
    /// Discards all frames under way after an error of member `failed`, which has lost its own.
    fn discard(&mut self, failed: usize) {
        let mut lost: Vec<bool> = (0..self.members.len()).map(|index| index == failed).collect();
        for UnderWay { member, .. } in mem::take(&mut self.order) {
            lost[member] = lost[member] || self.members[member].device.collect(&|| true).is_err();
        }
        self.members.iter_mut().for_each(|member| member.under_way = 0);
    }

    /// Combines at least one device.
    ///
    /// # Errors
    /// If the list is empty, or if the devices use different node layouts.
    pub fn new(devices: Vec<Box<dyn Device>>) -> Result<Self, DeviceError> {
        let Some(first) = devices.first() else {
            return Err(DeviceError::Failed("no device to render on".into()));
        };
        let layout = first.node_layout();
        if let Some(other) = devices.iter().find(|d| d.node_layout() != layout) {
            return Err(DeviceError::Failed(format!(
                "{} and {} need different trees, so they cannot share the frames of a run",
                first.describe(),
                other.describe()
            )));
        }
        let member = |device| Member { device, under_way: 0 };
        Ok(Self { members: devices.into_iter().map(member).collect(), order: VecDeque::new() })
    }

    /// The member with the most free places.
    fn chosen(&mut self) -> Result<(usize, &mut Member), DeviceError> {
        let free = |&index: &usize| self.members[index].free_places();
        // `max_by_key` returns the last maximum. With reversed order, that is the first member with the most free places.
        let chosen = (0..self.members.len()).rev().max_by_key(free);
        let index = chosen.filter(|index| free(index) > 0);
        let index = index.ok_or_else(|| DeviceError::Failed("all devices are busy".into()))?;
        Ok((index, &mut self.members[index]))
    }

    fn first(&self) -> &dyn Device {
        self.members[0].device.as_ref()
    }
}

impl Device for MultiDevice {
    fn describe(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|m| m.device.describe()).collect();
        names.join(" + ")
    }

    fn threads(&self) -> usize {
        self.first().threads()
    }

    fn node_layout(&self) -> NodeLayout {
        self.first().node_layout()
    }

    fn queue_depth(&self) -> usize {
        self.members.iter().map(|m| m.device.queue_depth()).sum()
    }

    fn device_count(&self) -> usize {
        self.members.iter().map(|m| m.device.device_count()).sum()
    }

    fn makes_blocks(&self) -> bool {
        self.members.iter().all(|m| m.device.makes_blocks())
    }

    fn builds_tlases(&self) -> bool {
        self.members.iter().all(|m| m.device.builds_tlases())
    }

    fn keeps_pictures(&self) -> bool {
        self.members.iter().all(|m| m.device.keeps_pictures())
    }

    fn has_stages(&self) -> bool {
        self.members.iter().all(|m| m.device.has_stages())
    }

    fn load(&mut self, scene: Arc<Scene>) -> Result<(), DeviceError> {
        self.order.clear();
        thread::scope(|scope| {
            let load = |member: &mut Member, scene| {
                member.under_way = 0;
                let loaded = member.device.load(scene);
                loaded.map_err(|error| error.on(&member.device.describe()))
            };
            let threads: Vec<_> = self
                .members
                .iter_mut()
                .map(|member| (member, scene.clone()))
                .map(|(member, scene)| thread::Builder::new().spawn_scoped(scope, move || load(member, scene)))
                .collect();
            threads.into_iter().try_for_each(|thread| {
                let failed = |error| DeviceError::Failed(format!("cannot start a thread: {error}"));
                let loaded = thread.map_err(failed)?.join();
                loaded.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    }

    fn submit(&mut self, frame: Frame, settings: &FrameSettings, delivery: Delivery) -> Result<(), DeviceError> {
        let (index, member) = self.chosen()?;
        let submitted = member.device.submit(frame, settings, delivery);
        submitted.map_err(|error| error.on(&member.device.describe()))?;
        member.under_way += 1;
        self.order.push_back(UnderWay { member: index, begins: true });
        Ok(())
    }

    fn frames_per_batch(&mut self, settings: &FrameSettings, delivery: Delivery) -> usize {
        let of_members = self.members.iter_mut().map(|member| member.device.frames_per_batch(settings, delivery));
        of_members.min().unwrap_or(1)
    }

    /// A batch goes to a single device.
    fn submit_batch(
        &mut self,
        frames: Vec<Frame>,
        settings: &FrameSettings,
        delivery: Delivery,
    ) -> Result<(), DeviceError> {
        let count = frames.len();
        let (index, member) = self.chosen()?;
        let submitted = member.device.submit_batch(frames, settings, delivery);
        submitted.map_err(|error| error.on(&member.device.describe()))?;
        member.under_way += 1;
        self.order.extend((0..count).map(|place| UnderWay { member: index, begins: place == 0 }));
        Ok(())
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        let Some(UnderWay { member: index, begins }) = self.order.pop_front() else {
            return Err(DeviceError::Failed("no frame is under way".into()));
        };
        let member = &mut self.members[index];
        member.under_way -= usize::from(begins);
        let collected = member.device.collect(stop);
        let collected = collected.map_err(|error| error.on(&member.device.describe()));
        if collected.is_err() {
            self.discard(index);
        }
        collected
    }

    /// Divides the picture into bands of rows; each device takes the next band when it is free. Pixels do not depend on the device that renders them.
    /// If samples are shared among pixels, the first device renders the whole picture.
    fn add_samples(
        &mut self,
        frame: &Frame,
        settings: &FrameSettings,
        delivery: Delivery,
        film: &mut Samples,
        until: u32,
        stop: &Stop,
    ) -> Result<Rendered, DeviceError> {
        if settings.shares_samples() {
            return self.members[0].device.add_samples(frame, settings, delivery, film, until, stop);
        }
        let whole = film.host_mut()?;
        if !whole.fits(settings) {
            return Err(DeviceError::Failed("the film is of another picture".into()));
        }
        let start = Instant::now();
        let bands = bands(settings, self.members.len());
        let shared = Shared { next: AtomicUsize::new(0), taken: Mutex::default(), film: whole };
        let render = |member: &mut Member| -> Result<(), DeviceError> {
            while let Some(band) = bands.get(shared.next.fetch_add(1, Ordering::Relaxed)) {
                let mut own = Samples::from(band.film_of(shared.film, settings));
                let settings = band.settings(settings);
                let rendered = member.device.add_samples(frame, &settings, delivery, &mut own, until, stop);
                let rendered = rendered.and_then(|rendered| {
                    member.device.download(&mut own)?;
                    Ok((own.into_host()?, rendered))
                });
                let rendered = rendered.map_err(|error| error.on(&member.device.describe()))?;
                lock(&shared.taken).insert(band.first_row, rendered);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = self
                .members
                .iter_mut()
                .map(|member| thread::Builder::new().spawn_scoped(scope, || render(member)))
                .collect();
            threads.into_iter().try_for_each(|thread| {
                let failed = |error| DeviceError::Failed(format!("cannot start a thread: {error}"));
                let rendered = thread.map_err(failed)?.join();
                rendered.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        let taken = unpoisoned(shared.taken.into_inner());
        let (films, rendered): (Vec<_>, Vec<_>) = taken.into_values().unzip();
        *whole = joined_films(films, &bands);
        Ok(Rendered { time: start.elapsed(), ..joined_pictures(rendered) })
    }

    /// Only the first device keeps sums, of pictures that it renders alone.
    fn download(&mut self, film: &mut Samples) -> Result<(), DeviceError> {
        self.members[0].device.download(film)
    }

    /// Returns the rays of the first device.
    fn own_rays(&mut self, frame: &Frame, settings: &FrameSettings) -> Result<Option<OwnRays>, DeviceError> {
        self.members[0].device.own_rays(frame, settings)
    }

    /// Runs on the first device.
    fn trace(
        &mut self,
        frame: &Frame,
        kind: RayKind,
        rays: &[Ray],
        hits: &mut [Hit],
        passes: u32,
    ) -> Result<Vec<Duration>, DeviceError> {
        self.members[0].device.trace(frame, kind, rays, hits, passes)
    }

    /// Runs on the first device.
    fn count_work(&mut self, frame: &Frame, kind: RayKind, rays: &[Ray]) -> Result<Option<WorkCounts>, DeviceError> {
        self.members[0].device.count_work(frame, kind, rays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeDevice, frame, settings};

    fn multi_device(devices: Vec<FakeDevice>) -> MultiDevice {
        let boxed = devices.into_iter().map(|d| Box::new(d) as Box<dyn Device>);
        let mut devices = MultiDevice::new(boxed.collect()).unwrap();
        devices.load(Arc::new(Scene::default())).unwrap();
        devices
    }

    fn collect(devices: &mut MultiDevice) -> Result<u8, String> {
        let rendered = devices.collect(&|| false).map_err(|e| e.to_string())?;
        Ok(rendered.pixels[0])
    }

    /// Renders frames 1 to `count` with a full queue.
    fn render(devices: &mut MultiDevice, count: u32) -> Vec<u8> {
        let depth = devices.queue_depth() as u32;
        let mut numbers = Vec::new();
        for number in 1..=count {
            if number > depth {
                numbers.push(collect(devices).unwrap());
            }
            devices.submit(frame(number), &settings(), Delivery::default()).unwrap();
        }
        numbers.extend((0..depth.min(count)).map(|_| collect(devices).unwrap()));
        numbers
    }

    #[test]
    fn frames_come_back_in_the_order_of_submission() {
        let mut devices = multi_device(vec![FakeDevice::new(1), FakeDevice::new(3)]);
        assert_eq!(devices.queue_depth(), 4);
        assert_eq!(render(&mut devices, 9), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn frames_of_a_stopped_run_do_not_come_back_in_the_next() {
        let mut devices = multi_device(vec![FakeDevice::new(2), FakeDevice::new(2)]);
        (1..=4).for_each(|number| devices.submit(frame(number), &settings(), Delivery::default()).unwrap());
        assert!(matches!(devices.collect(&|| true), Err(DeviceError::Stopped)));
        (11..=14).for_each(|number| devices.submit(frame(number), &settings(), Delivery::default()).unwrap());
        assert_eq!([(); 4].map(|()| collect(&mut devices).unwrap()), [11, 12, 13, 14]);
    }

    #[test]
    fn equal_devices_get_equally_many_frames() {
        let devices = vec![FakeDevice::new(2), FakeDevice::new(2), FakeDevice::new(2)];
        let logs: Vec<_> = devices.iter().map(FakeDevice::log).collect();
        render(&mut multi_device(devices), 12);
        let counts: Vec<usize> = logs.iter().map(|log| log.submitted().len()).collect();
        assert_eq!(counts, [4, 4, 4]);
    }

    #[test]
    fn a_batch_takes_one_place_of_one_device() {
        let both = || {
            let mut device = FakeDevice::new(1);
            device.batch = 3;
            device
        };
        let mut devices = multi_device(vec![both(), both()]);
        assert_eq!(devices.frames_per_batch(&settings(), Delivery::default()), 3);
        let first = frame(1);
        let batch = |numbers: [u32; 3]| numbers.map(|number| Frame { number, ..first.clone() }).to_vec();
        devices.submit_batch(batch([1, 2, 3]), &settings(), Delivery::default()).unwrap();
        devices.submit_batch(batch([4, 5, 6]), &settings(), Delivery::default()).unwrap();
        assert!(devices.submit(frame(7), &settings(), Delivery::default()).is_err());
        assert_eq!(collect(&mut devices), Ok(1));
        devices.submit(frame(7), &settings(), Delivery::default()).unwrap();
        let rest: Vec<_> = (2..=7).map(|_| collect(&mut devices).unwrap()).collect();
        assert_eq!(rest, [2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_device_that_fails_is_named_and_earlier_frames_can_be_collected() {
        let mut broken = FakeDevice::new(2);
        broken.fail_submit = Some(2);
        let mut devices = multi_device(vec![FakeDevice::new(2), broken]);
        devices.submit(frame(1), &settings(), Delivery::default()).unwrap();
        let error = devices.submit(frame(2), &settings(), Delivery::default()).unwrap_err();
        assert_eq!(error.to_string(), "fake 2: frame 2 broke");
        assert_eq!(collect(&mut devices), Ok(1));

        let mut broken = FakeDevice::new(2);
        broken.fail_collect = Some(2);
        let mut devices = self::multi_device(vec![FakeDevice::new(2), broken]);
        for number in [1, 2] {
            devices.submit(frame(number), &settings(), Delivery::default()).unwrap();
        }
        assert_eq!(collect(&mut devices), Ok(1));
        assert_eq!(collect(&mut devices), Err("fake 2: frame 2 broke".into()));
    }

    #[test]
    fn a_full_queue_and_no_devices_are_errors() {
        let mut devices = multi_device(vec![FakeDevice::new(1)]);
        assert!(collect(&mut devices).unwrap_err().contains("no frame"));
        devices.submit(frame(1), &settings(), Delivery::default()).unwrap();
        let error = devices.submit(frame(2), &settings(), Delivery::default()).unwrap_err();
        assert!(error.to_string().contains("busy"));
        assert!(MultiDevice::new(Vec::new()).is_err());
    }

    #[test]
    fn devices_that_need_different_trees_are_refused() {
        let mut other = FakeDevice::new(1);
        other.layout = NodeLayout::Wide8;
        let devices: Vec<Box<dyn Device>> = vec![Box::new(FakeDevice::new(1)), Box::new(other)];
        let error = MultiDevice::new(devices).err().unwrap().to_string();
        assert!(error.contains("need different trees"), "{error}");
    }
}
