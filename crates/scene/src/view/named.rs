//! Render settings as names and texts, for files that keep those of which their format has none: USD's `throng:` attributes.
//!
//! Size, frames, exposure and shutter are not in this list, because formats have their own.

use super::{
    film::{PixelFilter, ToneMap},
    integrator::Integrator,
    ranges,
    settings::{Metering, RenderDefaults},
};
use std::{ops::RangeInclusive, str::FromStr};
use throng_base::choice::Choice;

/// The text of a setting that is off.
const NONE: &str = "none";

const METERINGS: [(&str, Metering); 3] =
    [("off", Metering::Off), ("gentle", Metering::Gentle), ("full", Metering::Full)];

impl RenderDefaults {
    /// Names and values of the settings.
    #[doc(hidden)]
    pub fn named(&self) -> Vec<(&'static str, String)> {
        let optional = |value: Option<f32>| value.map_or_else(|| NONE.to_owned(), |value| format!("{value:?}"));
        let metering = METERINGS.iter().find(|(_, metering)| *metering == self.metering);
        vec![
            ("samples", self.samples.to_string()),
            ("noise", optional(self.noise)),
            ("bounces", self.bounces.to_string()),
            ("seed", self.seed.to_string()),
            ("integrator", self.integrator.to_string()),
            ("metering", metering.map_or("off", |(name, _)| name).to_owned()),
            ("singleScatter", self.single_scatter.to_string()),
            ("clampIndirect", optional(self.clamp_indirect)),
            ("toneMap", self.tone_map.to_string()),
            ("filter", self.filter.to_string()),
            ("filterWidth", optional(self.filter_width)),
            ("whiteBalance", optional(self.white_balance)),
            ("denoise", self.denoise.to_string()),
        ]
    }

    /// Changes the setting with this name. Unknown names, and values out of their range, change nothing.
    #[doc(hidden)]
    pub fn set_named(&mut self, name: &str, text: &str) {
        match name {
            "samples" => set(&mut self.samples, number(text, &ranges::SAMPLES)),
            "noise" => set(&mut self.noise, optional(text, &NOISE)),
            "bounces" => set(&mut self.bounces, number(text, &ranges::BOUNCES)),
            "seed" => set(&mut self.seed, text.parse().ok()),
            "integrator" => set(&mut self.integrator, Integrator::named(text)),
            "metering" => set(&mut self.metering, METERINGS.iter().find(|(own, _)| *own == text).map(|(_, own)| *own)),
            "singleScatter" => set(&mut self.single_scatter, text.parse().ok()),
            "clampIndirect" => set(&mut self.clamp_indirect, optional(text, &ranges::CLAMP_INDIRECT)),
            "toneMap" => set(&mut self.tone_map, ToneMap::named(text)),
            "filter" => set(&mut self.filter, PixelFilter::named(text)),
            "filterWidth" => set(&mut self.filter_width, optional(text, &ranges::FILTER_WIDTH)),
            "whiteBalance" => set(&mut self.white_balance, optional(text, &ranges::KELVIN)),
            "denoise" => set(&mut self.denoise, text.parse().ok()),
            _ => {}
        }
    }
}

/// Noise targets that a file may have.
const NOISE: RangeInclusive<f32> = 1e-4..=1.0;

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

fn number<T: FromStr + PartialOrd>(text: &str, range: &RangeInclusive<T>) -> Option<T> {
    text.parse().ok().filter(|value| range.contains(value))
}

fn optional(text: &str, range: &RangeInclusive<f32>) -> Option<Option<f32>> {
    if text == NONE { Some(None) } else { number(text, range).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_the_same_after_all_of_them_were_set() {
        let unusual = RenderDefaults {
            samples: 7,
            noise: Some(0.125),
            bounces: 3,
            seed: 9,
            integrator: Integrator::Whitted,
            metering: Metering::Full,
            single_scatter: true,
            clamp_indirect: Some(2.5),
            tone_map: ToneMap::Agx,
            filter: PixelFilter::Tent,
            filter_width: Some(1.5),
            white_balance: Some(4000.0),
            denoise: true,
            ..RenderDefaults::default()
        };
        let mut again = RenderDefaults { noise: Some(0.5), ..RenderDefaults::default() };
        unusual.named().iter().for_each(|(name, text)| again.set_named(name, text));
        assert_eq!(again, unusual);
        RenderDefaults::default().named().iter().for_each(|(name, text)| again.set_named(name, text));
        assert_eq!(again, RenderDefaults::default());
    }

    #[test]
    fn values_out_of_range_change_nothing() {
        let mut settings = RenderDefaults::default();
        for (name, text) in [("samples", "0"), ("noise", "nan"), ("toneMap", "film"), ("filterWidth", "99"), ("x", "1")]
        {
            settings.set_named(name, text);
        }
        assert_eq!(settings, RenderDefaults::default());
    }
}
