//! Settings of the film and of AOVs.

use super::{background::BackgroundChoice, limits};
#[cfg(feature = "cli")]
use clap::{
    ValueEnum,
    builder::{OsStringValueParser, PossibleValue, TypedValueParser},
};
use glam::Vec3;
use std::str::FromStr;
#[cfg(feature = "cli")]
use throng_base::flags;
use throng_denoise::Denoise;
use throng_picture::{
    aov::{Aov, AovSet},
    film::FilmSettings,
};
use throng_scene::{PixelFilter, ranges};

/// Settings of the pixel filter and of display colours. Absent values are taken from the scene.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Picture"))]
pub struct FilmOptions {
    /// Pixel filter: how samples are weighted around a pixel
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<PixelFilter>()))]
    pub filter: Option<PixelFilter>,
    /// Full width of the filter in pixels [default: 1 for box, 2 for tent, 4 for mitchell, otherwise 3]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PIXELS", value_parser = limits::within(ranges::FILTER_WIDTH)))]
    pub filter_width: Option<f32>,
    /// Colour temperature of light that is shown as white: lower values make pictures bluer, 6500 changes nothing
    #[cfg_attr(feature = "cli", arg(long, value_name = "KELVIN", value_parser = limits::within(ranges::KELVIN)))]
    pub white_balance: Option<f32>,
    /// Dither amplitude in 8-bit steps, to hide banding in smooth gradients; 0 turns it off [default: 1]
    #[cfg_attr(feature = "cli", arg(long, value_name = "STEPS", value_parser = limits::within(limits::DITHER)))]
    pub dither: Option<f32>,
}

impl FilmOptions {
    /// These choices, completed by the choices of a lower layer. A filter keeps its own width.
    #[must_use]
    pub(super) fn or(self, lower: &Self) -> Self {
        Self {
            filter: self.filter.or(lower.filter),
            filter_width: self.filter_width.or(lower.filter_width.filter(|_| self.filter.is_none())),
            white_balance: self.white_balance.or(lower.white_balance),
            dither: self.dither.or(lower.dither),
        }
    }

    pub(super) fn resolve(&self, usual: &FilmSettings) -> FilmSettings {
        FilmSettings {
            filter: self.filter.unwrap_or(usual.filter),
            // The scene's width applies to the scene's filter only.
            filter_width: match self.filter {
                None => self.filter_width.or(usual.filter_width),
                Some(_) => self.filter_width,
            },
            white_balance: self.white_balance.or(usual.white_balance),
            dither: self.dither.unwrap_or(usual.dither),
        }
    }
}

/// Additional layers of frames, and processing before frames are written.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Frames"))]
pub struct AovOptions {
    /// Additional layers of .exr and .npz files, for example albedo,normal,depth
    #[cfg_attr(feature = "cli", arg(long = "layers", value_name = "LIST", value_delimiter = ','))]
    pub aovs: Vec<AovName>,
    /// Remove noise from frames
    ///
    /// Each frame is denoised with the help of its neighbouring frames [default: the scene's setting, otherwise off; frames if HOW is
    /// omitted]
    #[cfg_attr(feature = "cli", arg(long, value_name = "HOW", value_parser = flags::choice::<Denoise>(), num_args = 0..=1, default_missing_value = "frames"))]
    pub denoise: Option<Denoise>,
    /// Number of neighbouring frames on either side that help to denoise a frame. They are traced, but written only if --frames includes
    /// them [default: 4; 0 with --lock-seed]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = limits::within(limits::DENOISE_FRAMES)))]
    pub denoise_frames: Option<u32>,
    /// Leave out the background: pictures get an alpha channel
    ///
    /// Pixels are transparent where the camera sees the environment. This works in .png, .webp, .apng and .exr files and in .mov and .webm
    /// videos. The environment still lights the scene. Models have no ground
    #[cfg_attr(feature = "cli", arg(long, group = "cut_out"))]
    pub transparent: bool,
    /// Background where the camera sees the environment: a colour like white or #c8b090, or a picture (.png, .jpg, .webp, .exr, .hdr);
    /// `transparent` means --transparent. The environment still lights the scene. Models have no ground
    #[cfg_attr(feature = "cli", arg(long, value_name = "COLOUR|IMAGE", allow_hyphen_values = true, group = "cut_out", value_parser = OsStringValueParser::new().try_map(BackgroundChoice::parse)))]
    pub background: Option<BackgroundChoice>,
    /// Colour of the edges, such as white, instead of black; turns on edges of 1 pixel if --wireframe is absent
    #[cfg_attr(feature = "cli", arg(long, value_name = "COLOUR", allow_hyphen_values = true, help_heading = "Picture", value_parser = throng_loader::options::parse_only_color))]
    pub wireframe_color: Option<Vec3>,
    /// Give models a ground plane that shows only shadows; on by default if --environment is a picture
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "no_ground"))]
    pub shadow_catcher: bool,
}

/// An entry of [`AovOptions::aovs`](field@AovOptions::aovs).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AovName {
    /// One layer.
    One(Aov),
    /// All layers.
    All,
}

impl AovOptions {
    /// The layers to write. `all` stands for all layers of frames as they are traced.
    pub(crate) fn aovs(&self) -> AovSet {
        let one = |name: &AovName| match name {
            AovName::One(aov) => AovSet::default().with(Some(*aov)),
            AovName::All => AovSet::from_iter(Aov::ALL).gathered(),
        };
        self.aovs.iter().flat_map(|name| one(name).iter()).collect()
    }

    /// A copy that turns denoising off unless it was explicitly requested.
    #[doc(hidden)]
    pub fn as_traced(&self) -> Self {
        Self { denoise: self.denoise.or(Some(Denoise::Off)), ..self.clone() }
    }

    /// Whether devices must leave out the environment.
    pub(crate) fn cuts_out(&self) -> bool {
        self.transparent || self.background.is_some()
    }

    /// Whether pictures get an alpha channel.
    pub(crate) fn is_transparent(&self) -> bool {
        self.transparent || self.background == Some(BackgroundChoice::Transparent)
    }
}

#[cfg(feature = "cli")]
impl ValueEnum for AovName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [AovName; Aov::ALL.len() + 1] = {
            let mut all = [AovName::All; Aov::ALL.len() + 1];
            let mut i = 0;
            while i < Aov::ALL.len() {
                all[i] = AovName::One(Aov::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::One(aov) => Some(flags::possible_value(*aov)),
            Self::All => Some(PossibleValue::new("all").help("All of them but error")),
        }
    }
}

/// `--exposure`: a fixed value in stops, or metered from the frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exposure {
    /// A value in stops: 1 doubles the brightness.
    Fixed(f32),
    /// Metered exposure, plus this many stops.
    Automatic(f32),
}

impl FromStr for Exposure {
    type Err = limits::LimitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("auto") {
            Some("") => Ok(Self::Automatic(0.0)),
            Some(more) if more.starts_with(['+', '-']) => limits::parse(more, &ranges::EXPOSURE).map(Self::Automatic),
            _ => limits::parse(text, &ranges::EXPOSURE).map(Self::Fixed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exposures_are_stops_or_automatic_with_stops() {
        let exposure = |text: &str| text.parse::<Exposure>().map_err(|e| e.to_string());
        assert_eq!(exposure("-1.5"), Ok(Exposure::Fixed(-1.5)));
        assert_eq!(exposure("auto"), Ok(Exposure::Automatic(0.0)));
        assert_eq!(exposure("auto+1"), Ok(Exposure::Automatic(1.0)));
        assert_eq!(exposure("auto-0.5"), Ok(Exposure::Automatic(-0.5)));
        for bad in ["auto1", "automatic", "", "auto+x"] {
            assert!(exposure(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn another_filter_has_its_own_width() {
        let scene = FilmSettings { filter: PixelFilter::Box, filter_width: Some(1.5), ..FilmSettings::default() };
        let of = |filter| FilmOptions { filter, ..FilmOptions::default() };
        assert_eq!(of(None).resolve(&scene).filter_width, Some(1.5));
        let tent = of(Some(PixelFilter::Tent)).resolve(&scene);
        assert_eq!((tent.filter, tent.filter_width), (PixelFilter::Tent, None));
    }
}
