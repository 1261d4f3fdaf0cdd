//! Validation and conversion of the `camera`, `cameras` and `cuts` sections.

use super::{clearance, lens};
use crate::{
    LoadError,
    framing::{self, Framing},
    ron::{
        checked::{direction, not_negative, within},
        file::Source,
        motions,
        names::Names,
        source::Place,
    },
    suggest,
};
use glam::{DVec3, Vec2, Vec3};
use throng_scene::{
    Above, Camera, CameraKey, CameraPath, Cut, Ease, Flight, Follow, Pace, Projection, Scene,
    desc::{Aim, AimOn, CameraDesc, Finite, Fit, LookAt, Orbit, PaceDesc, SceneFile, Spline, SplineKey},
};

/// Number of steps of equal length into which a flight with a pace is divided.
const PACE_STEPS: usize = 1024;

/// Returns the first camera, the cameras after each cut, and their numbers among the file's `cameras`. The scene must be complete. `chosen`
/// is the name of a single camera to use instead.
///
/// # Errors
/// If a view has no direction, if a number is out of range, if keys or cuts are out of order, or if nothing has a given name.
pub fn convert(
    source: &Source,
    file: &SceneFile,
    scene: &Scene,
    names: &Names,
    chosen: Option<&str>,
) -> Result<(Camera, Vec<Cut>, Vec<usize>), LoadError> {
    let root = Place::ROOT;
    let cuts = root.key("cuts");
    if let Some(name) = chosen
        && file.cameras.index(name).is_none()
    {
        let message = if file.cameras.0.is_empty() {
            "the scene has one camera: name several in `cameras`".to_owned()
        } else {
            format!("there is no camera `{name}`: {}", suggest::hint(name, file.cameras.names(), "cameras"))
        };
        return Err(LoadError::flag("--camera", message));
    }
    if file.camera.is_some() && !file.cameras.0.is_empty() {
        return Err(source.error(&root.key("camera"), "both `camera` and `cameras`: remove one"));
    }
    let cameras: Vec<Camera> = self::all(source, file, scene, names)?.into_iter().map(|(_, camera)| camera).collect();
    let mut shots = Vec::new();
    for (i, cut) in file.cuts.iter().enumerate() {
        let place = cuts.index(i);
        let Some(number) = file.cameras.index(&cut.to) else {
            let hint = suggest::hint(&cut.to, file.cameras.names(), "cameras");
            return Err(source.error(&place.key("to"), format!("there is no camera `{}`: {hint}", cut.to)));
        };
        if shots.last().is_some_and(|before: &(f64, usize)| cut.time.0 <= before.0) {
            return Err(source.error(&place.key("time"), "cut times must increase: sort the cuts"));
        }
        shots.push((cut.time.0, number));
    }
    if let Some(desc) = &file.camera {
        return Ok((one(source, desc, &root.key("camera"), scene, names)?, Vec::new(), Vec::new()));
    }
    let only = chosen.and_then(|name| file.cameras.index(name));
    match only.map_or(cameras.first(), |number| cameras.get(number)) {
        None => Ok((framing::turntable(&scene.bounds_at_rest()), Vec::new(), Vec::new())),
        Some(first) if only.is_some() => Ok((first.clone(), Vec::new(), only.into_iter().collect())),
        Some(first) => {
            let cut = |&(time, number): &(f64, usize)| Cut { time, camera: cameras[number].clone() };
            let numbers = std::iter::once(0).chain(shots.iter().map(|shot| shot.1));
            Ok((first.clone(), shots.iter().map(cut).collect(), numbers.collect()))
        }
    }
}

/// All of the file's `cameras`, with their names.
///
/// # Errors
/// As [`convert`].
pub fn all(
    source: &Source,
    file: &SceneFile,
    scene: &Scene,
    names: &Names,
) -> Result<Vec<(String, Camera)>, LoadError> {
    let all = Place::ROOT.key("cameras");
    let named = file.cameras.names().zip(&file.cameras.0);
    named.map(|(name, (_, desc))| Ok((name.to_owned(), one(source, desc, &all.key(name), scene, names)?))).collect()
}

/// The camera at `place`. Only the settings of `scene` are read; `names` provides everything else that cameras refer to.
///
/// # Errors
/// As [`convert`].
pub fn one(
    source: &Source,
    desc: &CameraDesc,
    place: &Place,
    scene: &Scene,
    names: &Names,
) -> Result<Camera, LoadError> {
    let optics = desc.optics();
    let at = Checks { source, names, scene, up: optics.up.0, place: *place };
    let projection = lens::projection(source, &optics, place)?;
    let up = source.check(&place.key("up"), direction(optics.up.0, "`up`"))?;
    let shake = optics.shake.map(|shake| motions::noise(source, &shake, &place.key("shake"))).transpose()?;
    let shift = lens::shift(source, &optics, place)?;
    let mut camera = Camera { up, projection, shift, roll: optics.roll.0.to_radians(), shake, ..Camera::default() };
    match desc {
        CameraDesc::LookAt(c) => at.look_at(c, &mut camera)?,
        CameraDesc::Fit(c) => camera.path = at.fit(c, &camera)?,
        CameraDesc::Orbit(c) => at.orbit(c, &mut camera)?,
        CameraDesc::Spline(c) => at.spline(c, &mut camera)?,
    }
    lens::add(source, desc, &mut camera, names, place)?;
    Ok(camera)
}

struct Checks<'a> {
    source: &'a Source,
    names: &'a Names<'a>,
    scene: &'a Scene,
    up: Vec3,
    place: Place<'a>,
}

impl Checks<'_> {
    fn fail<T>(&self, place: &Place, message: &str) -> Result<T, LoadError> {
        Err(self.source.error(place, message))
    }

    fn view(&self, eye: Vec3, target: Vec3, place: &Place) -> Result<(), LoadError> {
        let forward = (target.as_dvec3() - eye.as_dvec3()).normalize_or_zero();
        if forward == DVec3::ZERO {
            return self.fail(&place.key("target"), "the camera looks at itself: `eye` and `target` are the same");
        }
        if forward.cross(self.up.as_dvec3().normalize_or_zero()).length() < 1e-5 {
            return self.fail(&place.key("target"), "the camera looks along `up`: give another `up`, as (0, 0, 1)");
        }
        Ok(())
    }

    /// A fixed point, or the object to follow.
    fn aim(&self, aim: &Aim, field: &str) -> Result<(Vec3, Option<Follow>), LoadError> {
        let place = self.place.key(field);
        let follow = |name: &str, place: &Place| {
            let anchors = self.source.check(place, self.names.anchors(name))?;
            Ok(Follow { anchors, offset: Vec3::ZERO, turns: false, lag: 0.0 })
        };
        Ok(match aim {
            Aim::Point(point) => (*point, None),
            Aim::Name(name) => (Vec3::ZERO, Some(follow(name, &place)?)),
            Aim::On(AimOn { of, offset, turn, lag }) => {
                let lag = self.source.check(&place.key("lag"), not_negative(lag.0, "the lag"))?;
                let plain = follow(of, &place.key("of"))?;
                (Vec3::ZERO, Some(Follow { offset: offset.0, turns: *turn, lag, ..plain }))
            }
        })
    }

    fn look_at(&self, c: &LookAt, camera: &mut Camera) -> Result<(), LoadError> {
        let ((eye, moving_eye), (target, moving_target)) = (self.aim(&c.eye, "eye")?, self.aim(&c.target, "target")?);
        match (&moving_eye, &moving_target) {
            (None, None) => self.view(eye, target, &self.place)?,
            (Some(eye), Some(target)) if eye == target => {
                return self
                    .fail(&self.place.key("target"), "the camera looks at itself: give one of them an `offset`");
            }
            _ => {}
        }
        (camera.eye, camera.target) = (moving_eye, moving_target);
        camera.path = CameraPath::Still { eye, target };
        Ok(())
    }

    fn fit(&self, c: &Fit, camera: &Camera) -> Result<CameraPath, LoadError> {
        let towards = self.source.check(&self.place.key("from"), direction(c.from.0, "`from`"))?;
        if towards.cross(camera.up).length() < 1e-5 {
            return self.fail(&self.place.key("from"), "the camera looks along `up`: give another `up`, as (0, 0, 1)");
        }
        let framing = self.framing(camera, c.margin.0)?;
        let points = self.source.check(&self.place.key("of"), self.names.outline(c.of.as_deref()))?;
        let (eye, target) = framing::fitted(&points, (towards, camera.up), &framing);
        Ok(CameraPath::Still { eye, target })
    }

    /// The part of the picture that an object fills, with this margin.
    fn framing(&self, camera: &Camera, margin: f32) -> Result<Framing, LoadError> {
        self.source.check(&self.place.key("margin"), within(margin, 0.0..=0.49, "the margin"))?;
        let Projection::Perspective { fov_y } = camera.projection else {
            return self.fail(&self.place.key("projection"), "only a perspective camera can fit something");
        };
        if camera.shift != Vec2::ZERO {
            return self.fail(
                &self.place.key("shift"),
                "the object is in the middle of the picture: remove the shift, or use LookAt",
            );
        }
        let (width, height) = (self.scene.settings.width, self.scene.settings.height);
        Ok(Framing { fov_y, aspect: width as f32 / height as f32, margin, zoom: 1.0 })
    }

    /// The radius of an orbit around a named object, which is in the picture from all sides.
    fn fitting_radius(&self, c: &Orbit, camera: &Camera) -> Result<f32, LoadError> {
        let name = match &c.target {
            Aim::Name(name) => name,
            Aim::On(on) => &on.of,
            Aim::Point(_) => {
                return self.fail(&self.place, "`radius` is missing: add it, or name an object as the `target`");
            }
        };
        let framing = self.framing(camera, c.margin.0)?;
        let points = self.source.check(&self.place.key("target"), self.names.outline(Some(name)))?;
        Ok(framing::fitting_radius(&points, camera.up, c.height.0, &framing))
    }

    fn orbit(&self, c: &Orbit, camera: &mut Camera) -> Result<(), LoadError> {
        let height = c.height.0;
        let radius = match c.radius {
            Some(radius) => radius.0,
            None => self.fitting_radius(c, camera)?,
        };
        if radius <= 0.0 || radius < height.abs() * 1e-5 {
            let place = self.place.key("radius");
            return self.fail(&place, "the radius must be above 0, or the camera looks along `up`");
        }
        let start = c.start.0.to_radians();
        let target;
        (target, camera.target) = self.aim(&c.target, "target")?;
        camera.path = CameraPath::Orbit { target, radius, height, start, turns: c.turns.0 };
        Ok(())
    }

    fn spline(&self, c: &Spline, camera: &mut Camera) -> Result<(), LoadError> {
        let place = self.place.key("keys");
        if c.keys.len() < 2 {
            return self.fail(&place, "a spline needs at least 2 keys: add keys or use LookAt");
        }
        let fixed = match &c.target {
            Some(aim) => {
                let point;
                (point, camera.target) = self.aim(aim, "target")?;
                Some(point)
            }
            None => None,
        };
        let mut targets = Vec::new();
        for (i, key) in c.keys.iter().enumerate() {
            let place = place.index(i);
            let Some(target) = fixed.or(key.target.map(|point| point.0)) else {
                return self.fail(&place, "`target` is missing: add it here, or to the whole spline");
            };
            if camera.target.is_none() {
                self.view(key.eye.0, target, &place)?;
            }
            targets.push(target);
        }
        let times = self.times(&c.keys, &place)?;
        let keys = c.keys.iter().zip(targets).zip(times);
        let mut keys: Vec<CameraKey> =
            keys.map(|((k, target), time)| CameraKey { time, eye: k.eye.0, target }).collect();
        if let Some(name) = &c.clear_of {
            let solid = self.source.check(&self.place.key("clear_of"), self.names.solid(name))?;
            clearance::keep_out(&mut keys, c.parametrisation, &solid);
        }
        let mut flight = Flight::new(keys, c.parametrisation);
        flight.bank = c.bank.0;
        match &c.above {
            Some(above) => self.keep_above(&mut flight, above, c)?,
            None if c.smooth.is_some() => {
                let message = "`smooth` is for flights above a ground: add `above`, or remove it";
                return self.fail(&self.place.key("smooth"), message);
            }
            None => {}
        }
        let pace = c.pace.map(|pace| paced(pace, &flight)).transpose();
        flight.pace = self.source.check(&self.place.key("pace"), pace)?;
        camera.path = CameraPath::Spline(flight);
        Ok(())
    }

    fn keep_above(&self, flight: &mut Flight, (name, height): &(String, Finite), c: &Spline) -> Result<(), LoadError> {
        let place = self.place.key("above");
        if c.clear_of.is_some() {
            return self.fail(&place, "both `above` and `clear_of`: remove one");
        }
        let smooth = c.smooth.map_or(Ok(height.0.abs()), |smooth| not_negative(smooth.0, "the length"));
        let smooth = self.source.check(&self.place.key("smooth"), smooth)?;
        let ground = self.source.check(&place.index(0), self.names.ground(name))?;
        let above = Above { ground, height: height.0, smooth, targets: c.target.is_none() };
        flight.keep_above(above).or_else(|eye| {
            let message = format!(
                "the flight leaves `{name}` at x = {}, z = {}: move its keys, or make `{name}` larger",
                eye.x, eye.z
            );
            self.fail(&place, &message)
        })
    }

    fn times(&self, keys: &[SplineKey], place: &Place) -> Result<Vec<f64>, LoadError> {
        let (start, duration) = (self.scene.settings.start, self.scene.duration());
        let with_time = keys.iter().filter(|k| k.time.is_some()).count();
        if with_time == 0 {
            let last = (keys.len() - 1) as f64;
            return Ok((0..keys.len()).map(|i| start + duration * i as f64 / last).collect());
        }
        let mut times: Vec<f64> = Vec::with_capacity(keys.len());
        for (i, key) in keys.iter().enumerate() {
            let Some(time) = key.time else {
                return self.fail(&place.index(i), "this key has no time: give all keys a time, or none");
            };
            if times.last().is_some_and(|&before| time.0 <= before) {
                return self.fail(&place.index(i).key("time"), "key times must increase: sort the keys");
            }
            times.push(time.0);
        }
        Ok(times)
    }
}

/// Parses the pace of a flight in the notation of scene files: `constant`, `smooth` or `bezier(0.4, 0, 0.2, 1)`.
///
/// # Errors
/// A sentence about the fault in the text.
#[doc(hidden)]
pub fn pace_of(text: &str, flight: &Flight) -> Result<Pace, String> {
    let desc = ::ron::from_str(text).map_err(|error| format!("the pace: {}", error.code))?;
    paced(desc, flight)
}

fn paced(pace: PaceDesc, flight: &Flight) -> Result<Pace, String> {
    let ease = match pace {
        PaceDesc::Constant => Ease::Linear,
        PaceDesc::Smooth => Ease::Smooth,
        PaceDesc::Bezier(x1, y1, x2, y2) => {
            within(x1.0, 0.0..=1.0, "x1")?;
            within(x2.0, 0.0..=1.0, "x2")?;
            Ease::Bezier([x1, y1, x2, y2].map(|x| x.0))
        }
    };
    Ok(Pace { ease, times: even_times(flight).into() })
}

/// The times at which the eye of a flight without a pace has passed each of [`PACE_STEPS`] equal parts of its path.
fn even_times(flight: &Flight) -> Vec<f64> {
    let (first, last) = flight.span();
    let fine = PACE_STEPS * 16;
    let time = |i: usize| first + (last - first) * i as f64 / fine as f64;
    let eyes: Vec<DVec3> = (0..=fine).map(|i| flight.at(time(i), Vec3::ZERO, Vec3::Y).0.as_dvec3()).collect();
    let mut passed = vec![0.0];
    for pair in eyes.windows(2) {
        passed.push(passed[passed.len() - 1] + pair[0].distance(pair[1]));
    }
    let length = passed[fine];
    let at = |step: usize| {
        let wanted = length * step as f64 / PACE_STEPS as f64;
        let next = passed.partition_point(|&p| p < wanted).clamp(1, fine);
        let (from, to) = (passed[next - 1], passed[next]);
        let share = if to > from { (wanted - from) / (to - from) } else { 0.0 };
        time(next - 1) + (time(next) - time(next - 1)) * share
    };
    (0..=PACE_STEPS).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use throng_scene::Parametrisation;

    proptest! {
        #[test]
        fn a_constant_pace_is_constant(points in prop::collection::vec((-9f32..9.0, -9f32..9.0, 0.2f64..3.0), 3..8)) {
            let mut time = 0.0;
            let key = |&(x, z, step): &(f32, f32, f64)| {
                time += step;
                CameraKey { time, eye: Vec3::new(x, x * z * 0.1, z), target: Vec3::ZERO }
            };
            let keys: Vec<CameraKey> = points.iter().map(key).collect();
            let mut flight = Flight::new(keys, Parametrisation::Uniform);
            flight.pace = Some(Pace { ease: Ease::Linear, times: even_times(&flight).into() });
            let (first, last) = flight.span();
            let at = |i: usize| flight.at(first + (last - first) * i as f64 / 200.0, Vec3::ZERO, Vec3::Y).0;
            let steps: Vec<f32> = (0..200).map(|i| at(i).distance(at(i + 1))).collect();
            let mean = steps.iter().sum::<f32>() / 200.0;
            // Chords are shorter than arcs at sharp turns, which is independent of the pace.
            let even = steps.iter().filter(|&&step| (step / mean - 1.0).abs() < 0.02).count();
            prop_assert!(even >= 180, "{even}");
        }
    }
}
