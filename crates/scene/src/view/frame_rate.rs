//! Exact frame rates: frame times and metadata of files are computed from whole numbers.

/// Frames per second as a fraction of whole numbers, such as 24000/1001.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRate {
    numerator: u32,
    denominator: u32,
}

/// Whole numbers near the NTSC rates that may be written with two decimals.
const USUAL: [f64; 5] = [24.0, 30.0, 48.0, 60.0, 120.0];
/// Maximum numerator and denominator.
const MOST: f64 = 1e9;

impl FrameRate {
    /// The exact rate for a number: an NTSC rate for 23.976, 23.98, 29.97 or 59.94, otherwise the simplest fraction that equals the number.
    pub fn of(fps: f64) -> Self {
        let number = fps.clamp(1.0 / MOST, MOST);
        let nominal = (number * 1.001).round();
        let tolerance = if USUAL.contains(&nominal) { 3e-4 } else { 2e-6 };
        let away = (number * 1001.0 / (nominal * 1000.0) - 1.0).abs();
        if number.fract() != 0.0 && (1.0..=1000.0).contains(&nominal) && away <= tolerance {
            return Self { numerator: nominal as u32 * 1000, denominator: 1001 };
        }
        simplest(number)
    }

    /// Parses a number, or a fraction such as `24000/1001`. None for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let Some((numerator, denominator)) = text.split_once('/') else {
            return text.trim().parse().ok().filter(|fps: &f64| fps.is_finite() && *fps > 0.0).map(Self::of);
        };
        let whole = |text: &str| text.trim().parse().ok().filter(|number| (1..=MOST as u32).contains(number));
        let (numerator, denominator) = (whole(numerator)?, whole(denominator)?);
        Some(Self::of(f64::from(numerator) / f64::from(denominator)))
    }

    /// The nearest floating-point number.
    pub fn fps(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Numerator and denominator.
    pub fn parts(self) -> (u32, u32) {
        (self.numerator, self.denominator)
    }

    /// Duration of a number of frames, in seconds.
    pub fn seconds(self, frames: u32) -> f64 {
        f64::from(frames) * f64::from(self.denominator) / f64::from(self.numerator)
    }
}

/// The fraction with the smallest denominator that rounds to the `f32` of `number`, by continued fractions.
fn simplest(number: f64) -> FrameRate {
    let (mut last, mut best) = ([0.0, 1.0], [1.0, 0.0]);
    let mut rest = number;
    loop {
        let whole = rest.floor();
        let next: [f64; 2] = [0, 1].map(|i| whole * best[i] + last[i]);
        if next[0] > MOST || next[1] > MOST {
            break;
        }
        (last, best) = (best, next);
        if (best[0] / best[1]) as f32 == number as f32 || rest == whole {
            break;
        }
        rest = 1.0 / (rest - whole);
    }
    FrameRate { numerator: best[0].max(1.0) as u32, denominator: best[1].max(1.0) as u32 }
}

/// Writes the fraction in ffmpeg's form: `24000/1001`, or `24`.
impl std::fmt::Display for FrameRate {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> String {
        FrameRate::parse(text).map_or("none".into(), |rate| rate.to_string())
    }

    #[test]
    fn ntsc_rates_are_exact_however_they_are_written() {
        for text in ["23.976", "23.98", "23.97", "23.976023976", "24000/1001", "24000 / 1001"] {
            assert_eq!(rate(text), "24000/1001", "{text}");
        }
        for (text, exact) in [
            ("29.97", "30000/1001"),
            ("29.97002997", "30000/1001"),
            ("59.94", "60000/1001"),
            ("47.952", "48000/1001"),
            ("47.95", "48000/1001"),
            ("119.88", "120000/1001"),
            ("11.988", "12000/1001"),
            ("14.985", "15000/1001"),
            ("239.76", "240000/1001"),
        ] {
            assert_eq!(rate(text), exact, "{text}");
        }
    }

    #[test]
    fn other_rates_are_the_simplest_fraction() {
        for (text, exact) in [
            ("24", "24"),
            ("25.0", "25"),
            ("12.5", "25/2"),
            ("0.1", "1/10"),
            ("999", "999"),
            ("1/3", "1/3"),
            ("50/2", "25"),
            ("24.5", "49/2"),
            ("119.5", "239/2"),
        ] {
            assert_eq!(rate(text), exact, "{text}");
        }
        for text in ["", "0", "-24", "24/0", "0/1", "a/b", "1/2/3", "inf", "NaN", "24/"] {
            assert_eq!(rate(text), "none", "{text}");
        }
        for fps in [1e-30, 1e-6, 0.333, 1e6, 1e30, f64::MAX] {
            let (numerator, denominator) = FrameRate::of(fps).parts();
            assert!(numerator > 0 && denominator > 0, "{fps}");
        }
    }

    #[test]
    fn an_hour_at_an_ntsc_rate_ends_on_time() {
        let rate = FrameRate::of(23.976);
        assert_eq!(rate.seconds(24_000), 1001.0);
        assert_eq!(FrameRate::of(rate.fps()), rate, "the nearest number is the same rate");
        assert_eq!(FrameRate::of(29.97).seconds(30), 1.001);
    }
}
