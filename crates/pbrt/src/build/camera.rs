//! The camera and its film.

use super::{state::BOTH, *};
use crate::scene::{Camera, CameraKind, Film, Placement};

const KINDS: &str = "perspective orthographic spherical environment realistic";
const FILMS: &str = "rgb image gbuffer spectral";

/// Pixels of a side at most.
const MOST_PIXELS: i32 = 1 << 16;

impl Builder {
    /// `Camera "perspective" ..`
    pub fn camera(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<(), Fault> {
        if !is_in(KINDS, kind) {
            self.warn_of_unknown(place, ("camera", kind), KINDS, "it is taken as perspective");
        }
        let of = |name, usual| params.float(name).unwrap_or(usual);
        let (mut lens_radius, mut focal_distance) = (of("lensradius", 0.0).max(0.0), of("focaldistance", 1e6));
        let made = match kind {
            "orthographic" => CameraKind::Orthographic,
            "spherical" | "environment" => {
                params.ignore(&["mapping"]);
                CameraKind::Spherical
            }
            _ => {
                let of_half = params.float("halffov").map(|half| 2.0 * half);
                CameraKind::Perspective(of_half.unwrap_or(of("fov", 90.0)).clamp(0.01, 179.0))
            }
        };
        if kind == "realistic" {
            params.ignore(&["lensfile", "aperture", "simpleweighting"]);
            // Diameter in millimetres.
            lens_radius = 0.0005 * of("aperturediameter", 1.0).max(0.0);
            focal_distance = of("focusdistance", 10.0);
            self.warn(place, "a realistic camera is shown as a perspective one with an angle of view of 50 degrees");
        }
        let made = if kind == "realistic" { CameraKind::Perspective(50.0) } else { made };
        let world_from_camera = Placement { start: self.state.ctm.start.inverse(), end: self.state.ctm.end.inverse() };
        if !world_from_camera.start.is_finite() || !world_from_camera.end.is_finite() {
            return Err(Fault::at(place, "the transform of the camera cannot be inverted: correct it"));
        }
        let screen = params.floats("screenwindow").and_then(|own| own.first_chunk::<4>().copied());
        let shutter = [of("shutteropen", 0.0), of("shutterclose", 1.0)];
        let aspect = params.float("frameaspectratio").filter(|aspect| *aspect > 0.0);
        let camera = Camera {
            kind: made,
            screen: screen.filter(|[a, b, c, d]| a < b && c < d).unwrap_or_else(|| self.screen(aspect)),
            lens_radius,
            focal_distance: focal_distance.max(f32::MIN_POSITIVE),
            shutter,
            world_from_camera,
            medium: self.state.outside,
        };
        self.named.spaces.insert("camera".to_owned(), world_from_camera);
        self.scene.camera = Some(camera);
        self.state.active = BOTH;
        self.warn_of_unused(params, &format!("camera `{kind}`"));
        Ok(())
    }

    /// The screen of a film, whose shorter side goes from -1 to 1.
    fn screen(&self, aspect: Option<f32>) -> [f32; 4] {
        let [width, height] = self.scene.film.size.map(|side| side as f32);
        let aspect = aspect.unwrap_or(width / height);
        if aspect > 1.0 { [-aspect, aspect, -1.0, 1.0] } else { [-1.0, 1.0, -1.0 / aspect, 1.0 / aspect] }
    }

    /// `Film "rgb" ..`
    pub fn film(&mut self, kind: &str, params: &Params, place: LineColumn) {
        if !is_in(FILMS, kind) {
            self.warn_of_unknown(place, ("film", kind), FILMS, "it is taken as `rgb`");
        }
        self.is_version_3 |= kind == "image";
        let side = |name, usual: u32| params.integer(name).map_or(usual, |side| side.clamp(1, MOST_PIXELS) as u32);
        let usual = Film::default();
        let size = [side("xresolution", usual.size[0]), side("yresolution", usual.size[1])];
        let mut crop = params.floats("cropwindow").and_then(|own| own.first_chunk::<4>().copied());
        if let Some(bounds) = params.integers("pixelbounds").and_then(|own| own.first_chunk::<4>().copied()) {
            let [x0, x1, y0, y1] = bounds.map(|bound| bound as f32);
            let [width, height] = size.map(|side| side as f32);
            crop = Some([x0 / width, x1 / width, y0 / height, y1 / height]);
        }
        let iso = params.float("iso").unwrap_or(100.0);
        let seconds = params.float("exposuretime").unwrap_or(1.0);
        let scale = params.float("scale").unwrap_or(1.0);
        let sensor = params.text("sensor").unwrap_or("cie1931").to_owned();
        params.ignore(&[
            "filename",
            "diagonal",
            "savefp16",
            "maxcomponentvalue",
            "maxsampleluminance",
            "whitebalance",
            "coordinatesystem",
        ]);
        if sensor != "cie1931" {
            self.warn(place, format!("the sensor `{sensor}` is shown as that of `cie1931`"));
        }
        let exposure = (seconds * iso / 100.0 * scale).clamp(1e-9, 1e9);
        // A camera may precede its film.
        let had_usual = self.scene.camera.as_ref().is_some_and(|camera| camera.screen == self.screen(None));
        self.scene.film = Film { size, crop: crop.unwrap_or(usual.crop), exposure };
        let screen = self.screen(None);
        if let Some(camera) = self.scene.camera.as_mut().filter(|_| had_usual) {
            camera.screen = screen;
        }
        self.warn_of_unused(params, &format!("film `{kind}`"));
    }
}
