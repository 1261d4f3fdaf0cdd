//! Named columns, and the values of a row in them.

use glam::DQuat;
use throng_scene::desc::UpAxis;

/// Columns with a meaning, in the order of [`Numbers`].
pub const NAMES: [&str; 15] =
    ["frame", "time", "id", "x", "y", "z", "qx", "qy", "qz", "qw", "yaw", "scale", "sx", "sy", "sz"];
const FRAME: usize = 0;
const TIME: usize = 1;
/// The column of names of objects.
pub const ID: usize = 2;
/// The first of three columns.
const POSITION: usize = 3;
/// The first of four columns.
const QUATERNION: usize = 6;
const YAW: usize = 10;
const SCALE: usize = 11;
/// The first of three columns.
const SCALES: usize = 12;
const NEEDED: &str = "frame or time, id, x, y and z";

/// The numbers of a row by column; NaN for a number that is left out.
pub type Numbers = [f64; NAMES.len()];

/// The columns of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    has: [bool; NAMES.len()],
}

impl Columns {
    /// The columns of a file with these names. Unknown names are ignored.
    ///
    /// # Errors
    /// If a needed column is missing, if a quaternion or a scale is incomplete, or if a name is there twice. The text is a sentence.
    pub fn of(found: &[&str]) -> Result<Self, String> {
        let mut has = [false; NAMES.len()];
        for name in found {
            let Some(column) = column(name) else { continue };
            if has[column] {
                return Err(format!("the column `{name}` is there twice: remove one"));
            }
            has[column] = true;
        }
        let needed = [ID, POSITION, POSITION + 1, POSITION + 2].into_iter().filter(|column| !has[*column]);
        let mut missing: Vec<&str> = needed.map(|column| NAMES[column]).collect();
        if !has[FRAME] && !has[TIME] {
            missing.insert(0, "frame");
        }
        if !missing.is_empty() {
            let (missing, found) = (missing.join(", "), found.join(", "));
            return Err(format!("columns are missing ({missing}): the file has {found}; needed are {NEEDED}"));
        }
        for (first, count) in [(QUATERNION, 4), (SCALES, 3)] {
            let columns = first..first + count;
            if has[columns.clone()].contains(&true) && has[columns.clone()].contains(&false) {
                return Err(format!("only some of {} are there: add the others", NAMES[columns].join(", ")));
            }
        }
        Ok(Self { has })
    }

    /// Whether the file has this column, and uses it.
    pub fn has(&self, column: usize) -> bool {
        self.has[column]
    }

    /// Whether rows have times instead of numbers of frames.
    pub fn has_times(&self) -> bool {
        self.has[TIME]
    }

    /// Number of scales of a row: 0, 1 or 3.
    pub fn scales(&self) -> usize {
        match (self.has[SCALES], self.has[SCALE]) {
            (true, _) => 3,
            (false, true) => 1,
            (false, false) => 0,
        }
    }

    /// The frame or time of a row.
    ///
    /// # Errors
    /// If it is missing, or no whole number for a frame. The text is a sentence.
    pub fn key(&self, numbers: &Numbers) -> Result<f64, String> {
        let column = if self.has_times() { TIME } else { FRAME };
        let key = numbers[column];
        if !key.is_finite() {
            return Err(format!("`{}` is empty: write a number", NAMES[column]));
        }
        if column == FRAME && key.fract() != 0.0 {
            return Err(format!("`frame` is {key}: write a whole number, or name the column `time` if it has seconds"));
        }
        // Minus zero and zero are one frame.
        Ok(key + 0.0)
    }

    /// Position, quaternion (x, y, z, w) and scales of a row, of which the first 7 + [`Self::scales`] count.
    pub fn values(&self, numbers: &Numbers, up: UpAxis) -> [f64; 10] {
        let rotation = if self.has[QUATERNION] {
            DQuat::from_slice(&numbers[QUATERNION..QUATERNION + 4])
        } else if self.has[YAW] {
            let angle = numbers[YAW].to_radians();
            match up {
                UpAxis::Y => DQuat::from_rotation_y(angle),
                UpAxis::Z => DQuat::from_rotation_z(angle),
            }
        } else {
            DQuat::IDENTITY
        };
        let mut values = [0.0; 10];
        values[..3].copy_from_slice(&numbers[POSITION..POSITION + 3]);
        values[3..7].copy_from_slice(&rotation.to_array());
        match self.scales() {
            1 => values[7] = numbers[SCALE],
            _ => values[7..].copy_from_slice(&numbers[SCALES..]),
        }
        values
    }
}

/// The index of the column with this name.
pub fn column(name: &str) -> Option<usize> {
    NAMES.iter().position(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_columns_are_named_with_those_that_are_there() {
        let fault = |names: &[&str]| Columns::of(names).unwrap_err();
        assert_eq!(
            fault(&["t", "id", "x", "z"]),
            "columns are missing (frame, y): the file has t, id, x, z; needed are frame or time, id, x, y and z"
        );
        assert!(fault(&["frame", "id", "x", "y", "z", "qx", "qw"]).contains("only some of qx, qy, qz, qw"));
        assert!(fault(&["frame", "id", "x", "y", "z", "x"]).contains("`x` is there twice"));
    }

    #[test]
    fn a_yaw_turns_about_the_vertical_axis() {
        let columns = Columns::of(&["time", "id", "x", "y", "z", "yaw", "colour"]).unwrap();
        let mut numbers = [0.0; NAMES.len()];
        numbers[YAW] = 90.0;
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let rotation = |up| columns.values(&numbers, up)[3..7].iter().map(|x| (x / half).round()).collect::<Vec<_>>();
        assert_eq!(rotation(UpAxis::Y), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(rotation(UpAxis::Z), [0.0, 0.0, 1.0, 1.0]);
        assert!(columns.has_times() && columns.scales() == 0);
    }
}
