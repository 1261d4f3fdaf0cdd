//! Settings that a viewer has changed. They override the command line and the scene.

use clap::{CommandFactory, Parser};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use throng_base::{choice::Choice, quoting::for_user};
use throng_denoise::Denoise;
use throng_device::FrameSettings;
use throng_picture::aov::Aov;
use throng_scene::{RenderDefaults, Shows};
use throng_settings::{PictureOptions, RenderOptions, Size};

/// Name of the setting for animations. Unlike the other settings, it changes the scene.
pub const ANIMATION: &str = "animation";

/// Flags of pictures that a viewer does not set: the page has its own size.
const FIXED: [&str; 1] = ["size"];

/// The settings of a viewer; absent ones keep the value of the command line or scene.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Texts of the picture's settings, by the names of their flags.
    texts: BTreeMap<String, String>,
    /// The settings that `texts` describe.
    picture: RenderOptions,
    /// None: denoise moving pictures when time allows, and finished pictures if renders are denoised.
    denoise: Option<Denoise>,
    /// The AOV that is shown instead of the picture.
    pub view: Option<Aov>,
    /// Animations of a model, in the form of `--animation`; empty for a model at rest.
    pub animation: Option<String>,
}

/// The flags of the picture, which parse a viewer's settings.
#[derive(clap::Parser)]
#[command(no_binary_name = true)]
struct Flags {
    #[command(flatten)]
    picture: RenderOptions,
}

impl Choices {
    /// Changes one setting; null resets it. Names are those of flags, with underscores.
    ///
    /// # Errors
    /// If the name or the value is unknown, malformed or out of range.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let fail = |what: String| format!("`{name}`: {what}");
        match name {
            "denoise" => self.denoise = chosen(value).map_err(fail)?,
            "view" => self.view = chosen(value).map_err(fail)?,
            ANIMATION => self.animation = text(value).map_err(fail)?,
            _ => {
                let flag = name.replace('_', "-");
                let command = Flags::command();
                if FIXED.contains(&name) || !command.get_arguments().any(|arg| arg.get_long() == Some(&flag)) {
                    return Err(format!("there is no setting `{name}`"));
                }
                let mut texts = self.texts.clone();
                match text(value).map_err(fail)? {
                    Some(text) => texts.insert(flag, text),
                    None => texts.remove(&flag),
                };
                let flags = texts.iter().map(|(flag, text)| format!("--{flag}={text}"));
                let parsed = Flags::try_parse_from(flags).map_err(|error| fail(reason(&error)))?;
                (self.texts, self.picture) = (texts, parsed.picture);
            }
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
        options.picture = self.picture.clone().or(&base.picture);
        options.picture.size = Some(Size { width, height });
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
        let command = Flags::command();
        let needs_sign =
            |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag) && arg.is_require_equals_set());
        let write = |flag: &str, text: &str| {
            let sign = if needs_sign(flag) || text.starts_with('-') { '=' } else { ' ' };
            format!("--{flag}{sign}{}", for_user(text))
        };
        let mut flags: Vec<String> = self.texts.iter().map(|(flag, text)| write(flag, text)).collect();
        flags.extend(self.denoise.map(|method| format!("--denoise {method}")));
        let animation = self.animation.as_deref().filter(|name| !name.is_empty());
        flags.extend(animation.map(|name| write("animation", name)));
        flags
    }
}

/// Method of denoising in renders of a scene with these defaults.
pub fn usual_denoising(base: &PictureOptions, scene: &RenderDefaults) -> Denoise {
    base.aovs.denoise.unwrap_or(if scene.denoise { Denoise::Frames } else { Denoise::Off })
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

/// The first line of an error of the command line, without its remedy, which is a usage text.
fn reason(error: &clap::Error) -> String {
    let message = error.to_string();
    message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn chosen<T: Choice>(value: &Value) -> Result<Option<T>, String> {
    let Some(text) = text(value)? else {
        return Ok(None);
    };
    T::named(&text).map(Some).ok_or_else(|| format!("there is no `{text}`"))
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
            ("wireframe", json!(2)),
            ("denoise", json!("off")),
            ("view", json!("depth")),
        ] {
            choices.set(name, &value).unwrap();
        }
        assert!(!choices.denoises());
        let flags = choices.flags().join(" ");
        let expected =
            "--exposure 1.5 --integrator path --samples 64 --shutter 0.5 --tone-map agx --wireframe=2 --denoise off";
        assert_eq!(flags, expected);
        // The earlier name of a method.
        choices.set("denoise", &json!("film")).unwrap();
        assert!(choices.flags().contains(&"--denoise frames".to_owned()));
        for name in ["exposure", "integrator", "tone_map", "samples", "shutter", "wireframe", "denoise", "view"] {
            choices.set(name, &Value::Null).unwrap();
        }
        assert!(choices.flags().is_empty() && choices.view.is_none() && choices.picture.samples.is_none());
        for (name, value) in [
            ("exposure", json!([1])),
            ("integrator", json!("no")),
            ("samples", json!(-1)),
            ("colour", json!(1)),
            ("size", json!("4k")),
        ] {
            assert!(choices.set(name, &value).is_err(), "{name}");
        }
    }
}
