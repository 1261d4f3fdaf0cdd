//! Settings of the film and of AOVs.

use super::limits;
use crate::{
    aov::{Aov, AovSet},
    denoise::Denoise,
    film::FilmSettings,
    render::BackgroundChoice,
    scene::{PixelFilter, ranges},
};
#[cfg(feature = "cli")]
use clap::{
    ValueEnum,
    builder::{OsStringValueParser, PossibleValue, TypedValueParser},
};
use glam::Vec3;
use std::str::FromStr;

/// How samples make up pixels. What is not given is taken from the scene.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Picture"))]
pub struct FilmOptions {
    /// How a pixel gathers the light around it
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub filter: Option<PixelFilter>,
    /// Width of the filter in pixels, from one end to the other [default: 1 for box, 2 for tent, 4 for mitchell, else 3]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PIXELS", value_parser = limits::within(ranges::FILTER_WIDTH)))]
    pub filter_width: Option<f32>,
    /// Colour temperature of the light that is shown white: less makes pictures bluer, 6500 leaves them as they are
    #[cfg_attr(feature = "cli", arg(long, value_name = "KELVIN", value_parser = limits::within(ranges::KELVIN)))]
    pub white_balance: Option<f32>,
    /// Spreads the rounding to 8 bits over so many steps, so that smooth gradients have no bands; 0 is off [default: 1]
    #[cfg_attr(feature = "cli", arg(long, value_name = "STEPS", value_parser = limits::within(limits::DITHER)))]
    pub dither: Option<f32>,
}

impl FilmOptions {
    pub(super) fn resolve(&self, usual: &FilmSettings) -> FilmSettings {
        FilmSettings {
            filter: self.filter.unwrap_or(usual.filter),
            // The scene's width is that of its filter.
            filter_width: match self.filter {
                None => self.filter_width.or(usual.filter_width),
                Some(_) => self.filter_width,
            },
            white_balance: self.white_balance.or(usual.white_balance),
            dither: self.dither.unwrap_or(usual.dither),
        }
    }
}

/// What frames have besides their colours, and what is done to them before they are written.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Frames"))]
pub struct AovOptions {
    /// What .exr files tell about each pixel besides its colours, for example albedo,normal,depth
    #[cfg_attr(feature = "cli", arg(long = "layers", value_name = "LIST", value_delimiter = ','))]
    pub aovs: Vec<AovName>,
    /// Take the noise out of frames
    ///
    /// Each with the help of those before and after it [default: as the scene says, else off; film where no HOW is given]
    #[cfg_attr(feature = "cli", arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "film"))]
    pub denoise: Option<Denoise>,
    /// How many frames before and after a frame help to denoise it. They are traced for that, but not written unless they are asked for
    /// [default: 4, with --lock-seed 0]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = limits::within(limits::DENOISE_FRAMES)))]
    pub denoise_frames: Option<u32>,
    /// Leave out the background: pictures get alpha
    ///
    /// The environment is left out where the camera sees it, in .png, .webp, .apng and .exr files and in .mov and .webm videos. The light
    /// stays. Models have no ground
    #[cfg_attr(feature = "cli", arg(long, group = "cut_out"))]
    pub transparent: bool,
    /// Show a colour like white or #c8b090, or a picture (.png, .jpg, .webp, .exr, .hdr), where the camera sees the environment; `transparent`
    /// is --transparent. The light stays. Models have no ground
    #[cfg_attr(feature = "cli", arg(long, value_name = "COLOUR|IMAGE", allow_hyphen_values = true, group = "cut_out", value_parser = OsStringValueParser::new().try_map(BackgroundChoice::parse)))]
    pub background: Option<BackgroundChoice>,
    /// Draw edges in this colour instead of black, such as white; 1 pixel wide unless --wireframe says otherwise
    #[cfg_attr(feature = "cli", arg(long, value_name = "COLOUR", allow_hyphen_values = true, help_heading = "Picture", value_parser = crate::loader::options::parse_only_color))]
    pub wireframe_color: Option<Vec3>,
    /// Give models a ground that shows nothing but their shadows, as it does with a picture as --environment
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "no_ground"))]
    pub shadow_catcher: bool,
}

/// An entry of [`AovOptions::aovs`](field@AovOptions::aovs).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AovName {
    /// This one.
    One(Aov),
    /// All that there are.
    All,
}

impl AovOptions {
    /// The layers that are to be written. All layers are those of frames as they are traced.
    pub(crate) fn aovs(&self) -> AovSet {
        let one = |name: &AovName| match name {
            AovName::One(aov) => AovSet::default().with(Some(*aov)),
            AovName::All => AovSet::from_iter(Aov::ALL).gathered(),
        };
        self.aovs.iter().flat_map(|name| one(name).iter()).collect()
    }

    /// These, but frames are left as they are traced unless something else was asked for in so many words.
    pub(crate) fn as_traced(&self) -> Self {
        Self { denoise: self.denoise.or(Some(Denoise::Off)), ..self.clone() }
    }

    /// Whether devices have to leave out the environment.
    pub(crate) fn cuts_out(&self) -> bool {
        self.transparent || self.background.is_some()
    }

    /// Whether pictures get alpha.
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
            Self::One(aov) => aov.to_possible_value(),
            Self::All => Some(PossibleValue::new("all").help("All of them but error")),
        }
    }
}

/// `--exposure`: in stops, or such that frames are of an even brightness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exposure {
    /// In stops: 1 doubles the brightness.
    Fixed(f32),
    /// With so many stops added to what is measured.
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
