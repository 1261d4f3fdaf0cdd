//! Tables of transforms in memory, for scenes that are built in code.

use super::Rows;
use glam::Affine3;
use std::{fmt, sync::Arc};
use throng_scene::{RowClock, RowFormat, RowLayout, RowSource};

const FORMAT: RowFormat = RowFormat { layout: RowLayout::Matrix { rows: 3 }, is_double: false, is_big_endian: false };

/// The rows of transforms that are ordered by time.
///
/// # Errors
/// As [`super::of_transforms`].
pub fn rows(transforms: &Arc<[Affine3]>, times: &[f64]) -> Result<Rows, String> {
    let increasing = times.windows(2).all(|pair| pair[0] < pair[1]);
    if !increasing || times.iter().any(|time| !time.is_finite()) {
        return Err("the times must be finite and increasing".to_owned());
    }
    let frames = times.len().max(1);
    let instances = transforms.len() / frames;
    if instances == 0 || !transforms.len().is_multiple_of(frames) {
        let count = transforms.len();
        return Err(format!("there are {count} transforms at {frames} times: give each instance one at every time"));
    }
    let too_many = |_| "there are too many transforms: give fewer".to_owned();
    Ok(Rows {
        frames: u32::try_from(frames).map_err(too_many)?,
        instances: u32::try_from(instances).map_err(too_many)?,
        format: FORMAT,
        clock: RowClock::Times(times.to_vec()),
        source: Box::new(Transforms { all: transforms.clone(), instances }),
    })
}

struct Transforms {
    all: Arc<[Affine3]>,
    instances: usize,
}

impl fmt::Debug for Transforms {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} transforms", self.all.len())
    }
}

impl RowSource for Transforms {
    fn read(&self, frame: u32, into: &mut [u8]) -> Result<(), String> {
        let start = frame as usize * self.instances;
        let rows = into.as_chunks_mut::<48>().0.iter_mut().zip(&self.all[start..start + self.instances]);
        for (to, transform) in rows {
            let m = transform.matrix3;
            let numbers = [0, 1, 2].map(|r| [m.x_axis[r], m.y_axis[r], m.z_axis[r], transform.translation[r]]);
            let bytes = to.as_chunks_mut::<4>().0.iter_mut().zip(numbers.as_flattened());
            bytes.for_each(|(to, number)| *to = number.to_le_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::of_transforms;
    use glam::Vec3;

    #[test]
    fn transforms_by_time_become_rows() {
        let at = |x: f32| Affine3::from_translation(Vec3::new(x, 0.0, 0.0));
        let all: Arc<[Affine3]> = [at(0.0), at(10.0), at(1.0), at(f32::NAN)].into();
        let table = of_transforms(&all, &[0.0, 0.5]).unwrap().table;
        let x = |frame, row| {
            let pose = table.pose(&table.rows(frame), row)?;
            Some(pose.placed(&Affine3::IDENTITY, &Affine3::IDENTITY)?.translation.x)
        };
        assert_eq!([x(0, 0), x(0, 1), x(1, 0), x(1, 1)], [Some(0.0), Some(10.0), Some(1.0), None]);
        assert_eq!(table.position(0.25).share, 0.5);
    }

    #[test]
    fn wrong_times_and_counts_are_refused() {
        let all: Arc<[Affine3]> = vec![Affine3::IDENTITY; 3].into();
        let fault = |times: &[f64]| of_transforms(&all, times).err().unwrap_or_default();
        assert!(fault(&[0.0, 0.0, 1.0]).contains("increasing"));
        assert!(fault(&[0.0, f64::NAN, 1.0]).contains("finite"));
        assert!(fault(&[0.0, 1.0]).contains("3 transforms at 2 times"));
        let nowhere: Arc<[Affine3]> = vec![Affine3::NAN; 2].into();
        assert!(of_transforms(&nowhere, &[0.0, 1.0]).err().unwrap_or_default().contains("no instance is there"));
    }
}
