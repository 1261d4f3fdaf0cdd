//! Where instances are while a shutter is open: the input of a TLAS whose boxes hold them all the time.

use crate::accel::support::rounding_slack;
use crate::{
    abi::InstanceKey,
    math::{Aabb, affine_from_rows},
};
use glam::{Affine3, Vec3};

/// Beyond the rounding of a key's own box: that of matrices between keys, and of their inverses, which kernels work out in floats.
const MORE_ROUNDING: f32 = 3.0;

/// Keys of instances at even steps of the shutter's time. In between, matrices are interpolated linearly: every point of an instance
/// moves along straight lines, so the boxes of the keys hold it.
#[derive(Clone, Debug, Default)]
pub struct ShutterKeys {
    /// Of each instance, in the order of a TLAS's input; empty if none moves.
    pub spans: Vec<ShutterSpan>,
    pub keys: Vec<InstanceKey>,
}

/// The keys of one instance: from `first` on, one more than there are segments. No segments: it stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShutterSpan {
    pub first: u32,
    pub segments: u32,
}

impl ShutterKeys {
    /// Whether nothing moves.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Nothing moves any more; memory is kept.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.keys.clear();
    }

    /// The keys of an instance.
    pub fn span(&self, instance: usize) -> ShutterSpan {
        self.spans.get(instance).copied().unwrap_or_default()
    }

    /// What an instance's keys are; none if it stands still.
    pub fn of(&self, span: ShutterSpan) -> &[InstanceKey] {
        let count = match span.segments {
            0 => 0,
            segments => segments as usize + 1,
        };
        let first = span.first as usize;
        self.keys.get(first..first + count).unwrap_or_default()
    }

    /// The boxes of `boxed` at all keys, and between them; none if one of them has none. `reach` is that of what stands there.
    pub(super) fn bounds(
        &self,
        span: ShutterSpan,
        reach: Vec3,
        boxed: impl Fn(&Affine3) -> Option<Aabb>,
    ) -> Option<Aabb> {
        let key_bounds = |key: &InstanceKey| {
            let transform = affine_from_rows(&key.world_from_object);
            let slack = rounding_slack(&transform, reach) * MORE_ROUNDING;
            let bounds = boxed(&transform)?;
            Some(Aabb {
                min: bounds.min - slack,
                max: bounds.max + slack,
            })
        };
        let mut keys = self.of(span).iter();
        keys.try_fold(Aabb::EMPTY, |all, key| Some(all.union(key_bounds(key)?)))
    }
}
