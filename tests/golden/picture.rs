//! Pictures, and the tolerated differences between two of them.

use image::RgbImage;
use std::{
    fmt, fs,
    ops::Range,
    path::{Path, PathBuf},
};

/// Channel differences up to this value are ignored; they are invisible.
const CHANNEL_TOLERANCE: u8 = 4;
/// Share of pixels that may differ by more. On another system, the C library's functions, with which scenes are built, may differ in the last
/// bit, so that a ray at an edge occasionally hits the other side. At 4 samples, this changes a pixel by up to a quarter of the range. The size of single differences is
/// therefore not limited, only their number.
const OUTLIER_SHARE: f64 = 0.005;
/// Mean difference of a channel, in steps of 1/255. Rounding changes hardly any value. A picture that has become slightly brighter as a
/// whole exceeds this limit long before it exceeds the tolerance of a channel.
const MEAN_DIFFERENCE: f64 = 0.1;

#[derive(PartialEq)]
pub struct Picture(RgbImage);

/// Difference of two pictures of equal size.
pub struct Distance {
    outliers: f64,
    mean: f64,
}

impl Distance {
    pub fn is_like(&self) -> bool {
        self.outliers <= OUTLIER_SHARE && self.mean <= MEAN_DIFFERENCE
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let share = 100.0 * self.outliers;
        write!(
            f,
            "{share:.2} % of the pixels differ by more than {CHANNEL_TOLERANCE}/255, the mean difference is {:.3}/255",
            self.mean
        )
    }
}

impl Picture {
    #[track_caller]
    pub fn load(path: &Path) -> Self {
        let picture = image::open(path);
        let picture = picture.unwrap_or_else(|e| panic!("{}: {e} (THRONG_BLESS=1 writes references)", path.display()));
        Self(picture.into_rgb8())
    }

    /// RGB bytes, row by row.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_raw()
    }

    pub fn save(&self, path: &Path) {
        self.0.save(path).unwrap();
    }

    #[track_caller]
    pub fn compare(&self, other: &Self) -> Distance {
        assert_eq!(self.0.dimensions(), other.0.dimensions());
        let differences = || self.0.pixels().zip(other.0.pixels()).map(|(a, b)| difference(a.0, b.0));
        let pixels = self.0.pixels().len() as f64;
        let outliers = differences().filter(|d| d.iter().any(|&c| c > CHANNEL_TOLERANCE)).count();
        let sum: u64 = differences().flatten().map(u64::from).sum();
        Distance { outliers: outliers as f64 / pixels, mean: sum as f64 / (3.0 * pixels) }
    }

    /// Panics if the pictures differ too much, and reports where the pictures and their difference were saved.
    #[track_caller]
    pub fn assert_like(&self, reference: &Self, name: &str) {
        let distance = self.compare(reference);
        if distance.is_like() {
            return;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
        fs::create_dir_all(&folder).unwrap();
        let file = |what: &str| -> PathBuf { folder.join(format!("{name}.{what}.png")) };
        self.save(&file("found"));
        reference.save(&file("expected"));
        self.difference(reference).save(&file("difference"));
        panic!("{name}: {distance}; see {}", file("{found,expected,difference}").display());
    }

    /// Mean colour of the pixels in these columns and rows.
    pub fn mean(&self, (columns, rows): (Range<u32>, Range<u32>)) -> [f64; 3] {
        let count = (columns.len() * rows.len()) as f64;
        let mut mean = [0.0; 3];
        for (x, y) in rows.flat_map(|y| columns.clone().map(move |x| (x, y))) {
            let pixel = self.0.get_pixel(x, y).0;
            (0..3).for_each(|k| mean[k] += f64::from(pixel[k]) / count);
        }
        mean
    }

    /// The difference, multiplied by eight to make small values visible.
    fn difference(&self, other: &Self) -> Self {
        let mut picture = self.0.clone();
        for (a, b) in picture.pixels_mut().zip(other.0.pixels()) {
            a.0 = difference(a.0, b.0).map(|c| c.saturating_mul(8));
        }
        Self(picture)
    }
}

fn difference(a: [u8; 3], b: [u8; 3]) -> [u8; 3] {
    std::array::from_fn(|k| a[k].abs_diff(b[k]))
}
