//! Settings that a viewer has changed. They override the command line and the scene.

use serde_json::{Value, json};
use std::{collections::BTreeMap, str::FromStr};
use throng_base::{choice::Choice, quoting::quote};
use throng_denoise::Denoise;
use throng_device::FrameSettings;
use throng_picture::aov::Aov;
use throng_scene::{Integrator, RenderDefaults, Shows, Shutter, ToneMap};
use throng_settings::{Exposure, PictureOptions, Size};

/// Name of the setting for animations. Unlike the other settings, it changes the scene.
pub const ANIMATION: &str = "animation";

/// The settings of a viewer; None keeps the value of the command line or scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    exposure: Option<Exposure>,
    integrator: Option<Integrator>,
    tone_map: Option<ToneMap>,
    samples: Option<u32>,
    bounces: Option<u32>,
    shutter: Option<Shutter>,
    white_balance: Option<f32>,
    clamp_indirect: Option<f32>,
    wireframe: Option<f32>,
    /// None: denoise moving pictures when time allows, and finished pictures if renders are denoised.
    denoise: Option<Denoise>,
    /// The AOV that is shown instead of the picture.
    pub view: Option<Aov>,
    /// Animations of a model, in the form of `--animation`; empty for a model at rest.
    pub animation: Option<String>,
}

impl Choices {
    /// Changes one setting; null resets it.
    ///
    /// # Errors
    /// If the name or the value is unknown or malformed. Ranges of numbers are checked later, when the setting is used.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let fail = |what: String| format!("`{name}`: {what}");
        match name {
            "exposure" => self.exposure = parsed(value).map_err(fail)?,
            "integrator" => self.integrator = chosen(value).map_err(fail)?,
            "tone_map" => self.tone_map = chosen(value).map_err(fail)?,
            "samples" => self.samples = parsed(value).map_err(fail)?,
            "bounces" => self.bounces = parsed(value).map_err(fail)?,
            "shutter" => self.shutter = parsed(value).map_err(fail)?,
            "white_balance" => self.white_balance = parsed(value).map_err(fail)?,
            "clamp_indirect" => self.clamp_indirect = parsed(value).map_err(fail)?,
            "wireframe" => self.wireframe = parsed(value).map_err(fail)?,
            "denoise" => self.denoise = chosen(value).map_err(fail)?,
            "view" => self.view = chosen(value).map_err(fail)?,
            ANIMATION => self.animation = text(value).map_err(fail)?,
            _ => return Err(format!("there is no setting `{name}`")),
        }
        Ok(())
    }

    /// The animations to play, as in the loader's options.
    pub fn clips(&self) -> Option<Vec<String>> {
        let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty()).into_iter().collect();
        self.animation.as_ref().map(named)
    }

    /// Whether moving pictures may be denoised.
    pub fn denoises(&self) -> bool {
        self.denoise != Some(Denoise::Off)
    }

    /// Picture options for this size, in pixels, for pictures as traced.
    pub fn options(&self, base: &PictureOptions, (width, height): (u32, u32)) -> PictureOptions {
        let mut options = base.clone();
        options.aovs.denoise = Some(Denoise::Off);
        let picture = &mut options.picture;
        picture.size = Some(Size { width, height });
        picture.exposure = self.exposure.or(picture.exposure);
        picture.integrator = self.integrator.or(picture.integrator);
        picture.tone_map = self.tone_map.or(picture.tone_map);
        picture.samples = self.samples.or(picture.samples);
        picture.bounces = self.bounces.or(picture.bounces);
        picture.shutter = self.shutter.or(picture.shutter);
        picture.clamp_indirect = self.clamp_indirect.or(picture.clamp_indirect);
        picture.wireframe = self.wireframe.or(picture.wireframe);
        picture.film.white_balance = self.white_balance.or(picture.film.white_balance);
        options
    }

    /// As [`Self::options`], for finished pictures that are denoised without neighbouring frames. None if a render of a scene with these
    /// defaults would not be denoised.
    pub fn denoised_options(
        &self,
        base: &PictureOptions,
        size: (u32, u32),
        scene: &RenderDefaults,
    ) -> Option<PictureOptions> {
        let method = self.denoise.unwrap_or(usual_denoising(base, scene));
        let mut options = self.options(base, size);
        let settings = options.picture.resolve(scene).ok()?;
        if method == Denoise::Off || settings.integrator.shows() != Shows::Radiance {
            return None;
        }
        (options.aovs.denoise, options.aovs.denoise_frames) = (Some(method), Some(0));
        Some(options)
    }

    /// The command-line flags that have the effect of these settings.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut add = |flag: &str, value: Option<String>| flags.extend(value.map(|value| format!("{flag} {value}")));
        add(
            "--exposure",
            self.exposure.map(|exposure| match exposure {
                Exposure::Fixed(stops) => format!("{stops:?}"),
                Exposure::Automatic(0.0) => "auto".to_owned(),
                Exposure::Automatic(more) => format!("auto{more:+?}"),
            }),
        );
        add("--integrator", self.integrator.map(|it| it.to_string()));
        add("--tone-map", self.tone_map.map(|it| it.to_string()));
        add("--samples", self.samples.map(|it| it.to_string()));
        add("--bounces", self.bounces.map(|it| it.to_string()));
        add("--shutter", self.shutter.map(|it| format!("{:?},{:?}", it.span()[0], it.span()[1])));
        add("--white-balance", self.white_balance.map(|it| format!("{it:?}")));
        add("--clamp-indirect", self.clamp_indirect.map(|it| format!("{it:?}")));
        add("--denoise", self.denoise.map(|it| it.to_string()));
        // A name may begin like a flag.
        let animation = self.animation.as_deref().filter(|name| !name.is_empty());
        let sign = |name: &str| if name.starts_with('-') { '=' } else { ' ' };
        flags.extend(animation.map(|name| format!("--animation{}{}", sign(name), quote(name))));
        flags.extend(self.wireframe.map(|it| format!("--wireframe={it:?}")));
        flags
    }
}

/// Method of denoising in renders of a scene with these defaults.
pub fn usual_denoising(base: &PictureOptions, scene: &RenderDefaults) -> Denoise {
    base.aovs.denoise.unwrap_or(if scene.denoise { Denoise::Film } else { Denoise::Off })
}

/// Settings in the form that is sent to viewers, with the AOV that is shown.
pub fn told(settings: &FrameSettings, view: Option<Aov>) -> BTreeMap<&'static str, Value> {
    let shutter = settings.shutter.map(|shutter| shutter.span());
    BTreeMap::from([
        ("exposure", json!(settings.exposure)),
        ("integrator", json!(settings.integrator.name())),
        ("tone_map", json!(settings.tone_map.name())),
        ("samples", json!(settings.samples)),
        ("bounces", json!(settings.bounces)),
        ("shutter", json!(shutter.map_or(0.0, |[open, close]| close - open))),
        ("white_balance", json!(settings.film.white_balance)),
        ("clamp_indirect", json!(settings.clamp_indirect)),
        ("wireframe", json!(settings.wireframe)),
        ("view", json!(view.map(Aov::name))),
    ])
}

/// A value as text; None for null.
fn text(value: &Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err("write a number or a text".to_owned()),
    }
}

fn parsed<T: FromStr>(value: &Value) -> Result<Option<T>, String>
where
    T::Err: ToString,
{
    text(value)?.map(|text| text.parse().map_err(|error: T::Err| error.to_string())).transpose()
}

fn chosen<T: Choice>(value: &Value) -> Result<Option<T>, String> {
    let Some(text) = text(value)? else {
        return Ok(None);
    };
    let found = T::VALUES.iter().copied().find(|choice| choice.described().0 == text);
    found.map(Some).ok_or_else(|| format!("there is no `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn animations_are_named_as_the_flag_names_them() {
        let mut choices = Choices::default();
        assert_eq!(choices.clips(), None);
        for (name, clips, flags) in [
            ("Run", vec!["Run"], "--animation Run"),
            ("Walk, slowly", vec!["Walk, slowly"], "--animation 'Walk, slowly'"),
            ("-fast", vec!["-fast"], "--animation=-fast"),
            ("", vec![], ""),
        ] {
            choices.set(ANIMATION, &json!(name)).unwrap();
            let clips: Vec<String> = clips.into_iter().map(str::to_owned).collect();
            assert_eq!((choices.clips(), choices.flags().join(" ")), (Some(clips), flags.to_owned()));
        }
    }

    #[test]
    fn settings_are_set_by_name_and_null_unsets_them() {
        let mut choices = Choices::default();
        for (name, value) in [
            ("exposure", json!(1.5)),
            ("integrator", json!("path")),
            ("tone_map", json!("agx")),
            ("samples", json!(64)),
            ("shutter", json!(0.5)),
            ("denoise", json!("off")),
            ("view", json!("depth")),
        ] {
            choices.set(name, &value).unwrap();
        }
        assert!(!choices.denoises());
        let flags = choices.flags().join(" ");
        let expected =
            "--exposure 1.5 --integrator path --tone-map agx --samples 64 --shutter -0.25,0.25 --denoise off";
        assert_eq!(flags, expected);
        for name in ["exposure", "integrator", "tone_map", "samples", "shutter", "denoise", "view"] {
            choices.set(name, &Value::Null).unwrap();
        }
        assert_eq!(choices, Choices::default());
        for (name, value) in
            [("exposure", json!([1])), ("integrator", json!("no")), ("samples", json!(-1)), ("colour", json!(1))]
        {
            assert!(choices.set(name, &value).is_err(), "{name}");
        }
    }
}
