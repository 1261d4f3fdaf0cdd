//! The settings on which the samples of a picture depend.

use throng_device::{FrameSettings, PixelType};
use throng_picture::aov::Aov;
use throng_scene::ToneMap;

/// The settings that affect the samples of an open-ended picture. All other settings have neutral values.
pub fn sampling(settings: &FrameSettings) -> FrameSettings {
    let variance = settings.aovs.contains(Aov::Variance);
    // Noise is measured on displayed values.
    let measured = settings.noise.is_some();
    // Every setting not listed here counts: a picture with another value is not continued.
    FrameSettings {
        samples: 0,
        exposure: if measured { settings.exposure } else { 0.0 },
        tone_map: if measured { settings.tone_map } else { ToneMap::None },
        film: settings.film.sampling(),
        pixels: PixelType::U8,
        display_only: true,
        aovs: variance.then_some(Aov::Variance).into_iter().collect(),
        ..settings.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PoseSettings, Poser};
    use proptest::{option, prelude::*, sample::select};
    use std::sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    };
    use throng_device::{CpuDevice, Delivery, Device, Samples, fake};
    use throng_loader as loader;
    use throng_picture::film::FilmSettings;
    use throng_scene::{Integrator, Layering, PixelFilter, Shutter};

    /// A scene with lights, a mirror and motion.
    const SCENE: &str = r#"(
        environment: SunSky(elevation: 35, azimuth: 120),
        materials: { "red": Diffuse(color: (0.8, 0.2, 0.2)), "mirror": Mirror(), "lamp": Emissive(radiance: (9, 8, 7)) },
        meshes: { "ball": Sphere, "floor": Quad() },
        motions: { "sway": (parts: [Sway(axis: (1, 0, 0), degrees: 40, period: 1)]) },
        instances: [
            Single(of: "floor", scale: 40, material: "red"),
            Grid(of: "ball", count: (3, 1, 3), spacing: (3, 0, 3), translate: (0, 1, 0), materials: ["red", "mirror", "lamp"], motion: "sway"),
        ],
        camera: LookAt(eye: (0, 4, 12), target: (0, 0, 0), fov: 40),
    )"#;

    #[test]
    fn tone_curves_count_where_they_decide_who_gets_samples() {
        let under = |noise, tone_map| sampling(&FrameSettings { noise, tone_map, ..fake::settings() });
        assert!(under(None, ToneMap::None) == under(None, ToneMap::Agx));
        assert!(under(Some(0.1), ToneMap::None) != under(Some(0.1), ToneMap::Agx));
    }

    static LOADED: LazyLock<Arc<throng_scene::Scene>> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scene.ron");
        std::fs::write(&path, SCENE).unwrap();
        Arc::new(loader::load(&path).unwrap_or_else(|error| panic!("{error}")))
    });

    const INTEGRATORS: [Integrator; 7] = [
        Integrator::Path,
        Integrator::Whitted,
        Integrator::Ao,
        Integrator::Normal,
        Integrator::Depth,
        Integrator::Albedo,
        Integrator::Instance,
    ];
    const FILTERS: [PixelFilter; 5] = [
        PixelFilter::Box,
        PixelFilter::Tent,
        PixelFilter::Gaussian,
        PixelFilter::BlackmanHarris,
        PixelFilter::Mitchell,
    ];
    const TONE_MAPS: [ToneMap; 4] = [ToneMap::None, ToneMap::Aces, ToneMap::Agx, ToneMap::PbrNeutral];
    const PIXELS: [PixelType; 3] = [PixelType::U8, PixelType::U16, PixelType::F32];

    /// Display settings, which may change when a picture is continued.
    type Shown = (f32, ToneMap, f32, Option<f32>, PixelType, bool);

    fn shown() -> impl Strategy<Value = Shown> {
        (
            select(vec![-2.0f32, 0.0, 3.0]),
            select(TONE_MAPS.to_vec()),
            select(vec![0.0f32, 1.0]),
            option::of(select(vec![3000.0f32, 9000.0])),
            select(PIXELS.to_vec()),
            any::<bool>(),
        )
    }

    fn settings() -> impl Strategy<Value = FrameSettings> {
        let light = (
            select(INTEGRATORS.to_vec()),
            0u32..4,
            any::<bool>(),
            any::<bool>(),
            option::of(select(vec![0.5f32, 50.0])),
        );
        let film =
            (select(FILTERS.to_vec()), option::of(0.5f32..6.0), option::of(select(vec![0.003f32, 0.1])), any::<bool>());
        let rest = (any::<u32>(), any::<bool>(), any::<bool>());
        (light, film, rest).prop_map(|(light, film, rest)| FrameSettings {
            width: 13,
            height: 9,
            integrator: light.0,
            bounces: light.1,
            single_scatter: light.2,
            layering: if light.3 { Layering::Viewer } else { Layering::Reciprocal },
            clamp_indirect: light.4,
            film: FilmSettings { filter: film.0, filter_width: film.1, ..FilmSettings::default() },
            noise: film.2,
            shutter: film.3.then(|| "0.5".parse::<Shutter>().unwrap()),
            seed: rest.0,
            lock_seed: rest.1,
            filter_textures: rest.2,
            open_ended: true,
            ..fake::settings()
        })
    }

    fn with(settings: &FrameSettings, shown: &Shown, samples: u32) -> FrameSettings {
        let aovs = shown.5.then_some(Aov::Variance);
        FrameSettings {
            samples,
            exposure: shown.0,
            tone_map: shown.1,
            film: FilmSettings { dither: shown.2, white_balance: shown.3, ..settings.film.clone() },
            pixels: shown.4,
            aovs: aovs.into_iter().collect(),
            ..settings.clone()
        }
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(96))]

        #[test]
        fn a_picture_in_pieces_is_that_at_once(
            settings in settings(),
            (before, after) in (shown(), shown()),
            (first, more) in (1u32..40, 1u32..40),
        ) {
            let begun = with(&settings, &before, first);
            let whole = with(&settings, &after, first + more);
            // With incompatible settings a picture cannot be continued; then only the number of samples changes.
            let begun = if sampling(&begun) == sampling(&whole) { begun } else { with(&settings, &after, first) };
            let mut device = CpuDevice::new().unwrap_or_else(|error| panic!("{error}"));
            device.load(LOADED.clone()).unwrap();
            let mut poser = Poser::new(LOADED.clone(), device.node_layout());
            poser.configure(PoseSettings { close_to_camera: false, ..PoseSettings::of(&settings) });
            let frame = poser.pose(7).frame;
            let mut add = |settings: &FrameSettings, film: &mut Samples, until| {
                let rendered = device.add_samples(&frame, settings, Delivery::default(), film, until, &|| false);
                rendered.unwrap_or_else(|error| panic!("{error}")).pixels
            };
            let mut pieces = Samples::new(&begun);
            add(&begun, &mut pieces, first);
            let in_pieces = add(&whole, &mut pieces, first + more);
            let mut film = Samples::new(&whole);
            let at_once = add(&whole, &mut film, first + more);
            prop_assert_eq!(in_pieces, at_once);
            prop_assert_eq!(pieces.into_host().unwrap(), film.into_host().unwrap());
        }
    }

    #[test]
    fn a_picture_tells_how_far_it_is() {
        let settings = FrameSettings { samples: 8, open_ended: true, ..fake::settings() };
        let mut device = CpuDevice::new().unwrap();
        device.load(LOADED.clone()).unwrap();
        let frame = Poser::new(LOADED.clone(), device.node_layout()).pose(1).frame;
        let progress = device.progress().unwrap();
        let mut film = Samples::new(&settings);
        device.add_samples(&frame, &settings, Delivery::default(), &mut film, 2, &|| false).unwrap();
        assert_eq!(progress.share(), 0.25);
        let moved = AtomicBool::new(false);
        let look = || {
            moved.fetch_or(progress.share() > 0.25, Ordering::Relaxed);
            false
        };
        device.add_samples(&frame, &settings, Delivery::default(), &mut film, 8, &look).unwrap();
        assert!(moved.into_inner(), "counts while it works");
        assert_eq!(progress.share(), 0.0, "no frame is under way");
    }
}
