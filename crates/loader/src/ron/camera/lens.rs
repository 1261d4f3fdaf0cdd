//! Validation and conversion of the projection and the lens in the `camera` section.

use crate::{
    LoadError,
    ron::{
        checked::{length, not_negative, within},
        file::Source,
        names::Names,
        source::Place,
    },
};
use glam::Vec2;
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::{
    Aperture, Camera, CameraPath, Focus, Iris, Lens, LensTracks, MAX_BLADES, MOST_SHIFT, Projection,
    desc::{CameraDesc, CommonOptics, Finite, FocusDesc, LensDesc, Parallel, ProjectionDesc, SplineKey},
};

/// Minimum field of view in degrees; smaller values are raised to it.
const LEAST_FOV: f32 = 1e-3;

/// The projection of a camera, without the values of its keys.
///
/// # Errors
/// If the field of view is outside (0, 180) degrees, or if the height is not positive.
pub fn projection(source: &Source, optics: &CommonOptics, place: &Place) -> Result<Projection, LoadError> {
    let at = Checks { source };
    let fov_y = at.fov(optics.fov, &place.key("fov"))?;
    match optics.projection {
        ProjectionDesc::Perspective => Ok(Projection::Perspective { fov_y }),
        ProjectionDesc::Orthographic(Parallel { height }) => {
            let height = at.height(height, &place.key("projection").key("height"))?;
            Ok(Projection::Orthographic { height })
        }
        ProjectionDesc::Equirectangular => Ok(Projection::Equirectangular),
    }
}

/// The shift of a camera's lens.
///
/// # Errors
/// If the shift is out of range, or if the camera is equirectangular.
pub fn shift(source: &Source, optics: &CommonOptics, place: &Place) -> Result<Vec2, LoadError> {
    let shift = Vec2::new(optics.shift.0.0, optics.shift.1.0);
    let place = place.key("shift");
    if shift.abs().max_element() > MOST_SHIFT {
        return Err(source.error(&place, format!("the shift must be within {MOST_SHIFT} longer sides of the picture")));
    }
    if shift != Vec2::ZERO && matches!(optics.projection, ProjectionDesc::Equirectangular) {
        return Err(source.error(&place, "an equirectangular camera has no lens to shift: remove it"));
    }
    Ok(shift)
}

/// Adds the lens, and the optics of a spline's keys, to a camera.
///
/// # Errors
/// If a number is out of range, if nothing has a given name, or if keys specify a property that the camera does not have.
pub fn add(
    source: &Source,
    desc: &CameraDesc,
    camera: &mut Camera,
    names: &Names,
    place: &Place,
) -> Result<(), LoadError> {
    let at = Checks { source };
    let lens = desc.optics().lens.map(|desc| at.lens(desc, names, &place.key("lens")));
    camera.lens = lens.transpose()?;
    if let CameraDesc::Spline(spline) = desc {
        let CameraPath::Spline(flight) = &camera.path else { return Ok(()) };
        let keys = flight.keys();
        // A path that avoids a solid has more keys than the file.
        let times: Vec<f64> = if keys.len() == spline.keys.len() {
            keys.iter().map(|key| key.time).collect()
        } else {
            keys.iter().step_by((keys.len() - 1) / (spline.keys.len() - 1)).map(|key| key.time).collect()
        };
        camera.tracks = at.tracks(camera, names, &spline.keys, &times, &place.key("keys"))?;
        let rolls = rolls(&spline.keys, &times, camera.roll);
        if let CameraPath::Spline(flight) = &mut camera.path {
            flight.rolls = rolls;
        }
    }
    Ok(())
}

struct Checks<'a> {
    source: &'a Source,
}

impl Checks<'_> {
    fn fail<T>(&self, place: &Place, message: impl AsRef<str>) -> Result<T, LoadError> {
        Err(self.source.error(place, message))
    }

    /// Checks a field of view in degrees, and converts it to radians.
    fn fov(&self, fov: Finite, place: &Place) -> Result<f32, LoadError> {
        if fov.0 > 0.0 && fov.0 < 180.0 {
            return Ok(fov.0.max(LEAST_FOV).to_radians());
        }
        self.fail(place, "the field of view must be above 0 and below 180 degrees")
    }

    fn height(&self, height: Finite, place: &Place) -> Result<f32, LoadError> {
        self.source.check(place, length(height.0, "the height"))
    }

    fn f_stop(&self, number: Finite, place: &Place) -> Result<f32, LoadError> {
        let checked = within(number.0, 1e-3..=1e6, "the f-stop");
        self.source.check(place, checked.map_err(|fault| fault + "; without `lens` everything is sharp"))
    }

    fn radius(&self, radius: Finite, place: &Place) -> Result<f32, LoadError> {
        let checked = not_negative(radius.0, "the radius");
        self.source.check(place, checked.and_then(|radius| within(radius, 0.0..=LARGEST_COORDINATE, "the radius")))
    }

    fn lens(&self, desc: &LensDesc, names: &Names, place: &Place) -> Result<Lens, LoadError> {
        let focus = match &desc.focus {
            Some(focus) => self.focus(focus, names, &place.key("focus"))?,
            None => Focus::Target,
        };
        Ok(Lens { aperture: self.aperture(desc, place)?, focus, iris: self.iris(desc, place)? })
    }

    fn aperture(&self, desc: &LensDesc, place: &Place) -> Result<Aperture, LoadError> {
        match (desc.f_stop, desc.radius) {
            (Some(number), None) => Ok(Aperture::FStop {
                number: self.f_stop(number, &place.key("f_stop"))?,
                sensor: self.source.check(&place.key("sensor"), length(desc.sensor.0, "the height"))?,
            }),
            (None, Some(radius)) => {
                let radius = self.radius(radius, &place.key("radius"))?;
                Ok(Aperture::Radius(radius))
            }
            (Some(_), Some(_)) => self.fail(place, "both `f_stop` and `radius`: remove one"),
            (None, None) => self.fail(place, "the lens has no aperture: give it an `f_stop` or a `radius`"),
        }
    }

    fn iris(&self, desc: &LensDesc, place: &Place) -> Result<Iris, LoadError> {
        let blades = desc.blades;
        if blades != 0 && !(3..=MAX_BLADES).contains(&blades) {
            let message = format!("blades are 3 to {MAX_BLADES}, or 0 for a round aperture");
            return self.fail(&place.key("blades"), message);
        }
        Ok(Iris {
            blades,
            rotation: desc.rotation.0.to_radians(),
            ratio: self.source.check(&place.key("ratio"), within(desc.ratio.0, 0.01..=100.0, "the ratio"))?,
        })
    }

    fn focus(&self, desc: &FocusDesc, names: &Names, place: &Place) -> Result<Focus, LoadError> {
        match desc {
            FocusDesc::Distance(distance) => {
                self.source.check(place, length(*distance, "the distance")).map(Focus::Distance)
            }
            FocusDesc::Point(point) => Ok(Focus::Point(*point)),
            FocusDesc::Name(name) => self.source.check(place, names.anchors(name)).map(Focus::On),
        }
    }

    fn tracks(
        &self,
        camera: &Camera,
        names: &Names,
        keys: &[SplineKey],
        times: &[f64],
        place: &Place,
    ) -> Result<LensTracks, LoadError> {
        let mut tracks = LensTracks::default();
        for (i, (key, &time)) in keys.iter().zip(times).enumerate() {
            let place = place.index(i);
            if let Some(span) = self.span(key, camera.projection, &place)? {
                tracks.span.push((time, span));
            }
            if let Some(aperture) = self.key_aperture(key, camera.lens.as_ref(), &place)? {
                tracks.aperture.push((time, aperture));
            }
            if let Some(desc) = &key.focus {
                let place = place.key("focus");
                if camera.lens.is_none() {
                    return self.fail(&place, "the camera has no `lens` to focus: give it one");
                }
                tracks.focus.push((time, self.focus(desc, names, &place)?));
            }
        }
        fill_in(&mut tracks, camera, times);
        Ok(tracks)
    }

    fn span(&self, key: &SplineKey, projection: Projection, place: &Place) -> Result<Option<f32>, LoadError> {
        match (key.fov, key.height, projection) {
            (None, None, _) => Ok(None),
            (Some(fov), None, Projection::Perspective { .. }) => self.fov(fov, &place.key("fov")).map(Some),
            (None, Some(height), Projection::Orthographic { .. }) => {
                self.height(height, &place.key("height")).map(Some)
            }
            (Some(_), ..) => self.fail(&place.key("fov"), "only perspective cameras have a `fov`"),
            (None, Some(_), _) => {
                let message = "only orthographic cameras have a `height`";
                self.fail(&place.key("height"), message)
            }
        }
    }

    fn key_aperture(&self, key: &SplineKey, lens: Option<&Lens>, place: &Place) -> Result<Option<f32>, LoadError> {
        match (key.f_stop, key.radius, lens.map(|lens| lens.aperture)) {
            (None, None, _) => Ok(None),
            (Some(number), None, Some(Aperture::FStop { .. })) => self.f_stop(number, &place.key("f_stop")).map(Some),
            (None, Some(radius), Some(Aperture::Radius(_))) => self.radius(radius, &place.key("radius")).map(Some),
            (Some(_), ..) => {
                let message = "keys with an `f_stop` need a camera with one: `lens: (f_stop: ..)`";
                self.fail(&place.key("f_stop"), message)
            }
            (None, Some(_), _) => {
                let message = "keys with a `radius` need a camera with one: `lens: (radius: ..)`";
                self.fail(&place.key("radius"), message)
            }
        }
    }
}

/// If only some keys have a value, the others get the camera's.
fn fill_in(tracks: &mut LensTracks, camera: &Camera, times: &[f64]) {
    let own_span = match camera.projection {
        Projection::Perspective { fov_y } => Some(fov_y),
        Projection::Orthographic { height } => Some(height),
        Projection::Equirectangular => None,
    };
    fill(&mut tracks.span, own_span, times);
    let aperture = camera.lens.as_ref().map(|lens| lens.aperture.value());
    fill(&mut tracks.aperture, aperture, times);
    let focus = camera.lens.as_ref().map(|lens| lens.focus.clone());
    fill(&mut tracks.focus, focus, times);
}

/// The rolls of a flight in radians; empty if no key specifies one.
fn rolls(keys: &[SplineKey], times: &[f64], own: f32) -> Vec<(f64, f32)> {
    let given = keys.iter().zip(times).filter_map(|(key, &time)| Some((time, key.roll?.0.to_radians())));
    let mut rolls = given.collect();
    fill(&mut rolls, Some(own), times);
    rolls
}

fn fill<T: Clone>(track: &mut Vec<(f64, T)>, own: Option<T>, times: &[f64]) {
    let Some(own) = own.filter(|_| !track.is_empty()) else {
        return;
    };
    let value = |&time: &f64| {
        let given = track.iter().find(|(at, _)| *at == time);
        (time, given.map_or_else(|| own.clone(), |g| g.1.clone()))
    };
    *track = times.iter().map(value).collect();
}
