//! Keys of instances that move while the shutter is open. A TLAS uses them for boxes that enclose each instance over the whole interval.

use crate::accel::support::rounding_slack;
use crate::{
    abi::InstanceKey,
    math::{Aabb, affine_from_rows},
};
use glam::{Affine3, Vec3};

/// Factor for the rounding slack of a key's own box. It covers the rounding of interpolated matrices and of their inverses, which kernels compute in
/// single precision.
const MORE_ROUNDING: f32 = 3.0;

/// Keys of instances at even steps over the shutter interval. Between keys, matrices are interpolated linearly. Every point of an instance therefore
/// moves along straight lines, and the union of the keys' boxes encloses it.
#[derive(Clone, Debug, Default)]
pub struct ShutterKeys {
    /// The span of each instance, in the order of a TLAS's input; empty if no instance moves.
    pub spans: Vec<ShutterSpan>,
    pub keys: Vec<InstanceKey>,
}

/// The keys of one instance: `segments` + 1 keys, starting at index `first`; none if `segments` is 0 and the instance stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShutterSpan {
    pub first: u32,
    pub segments: u32,
}

impl ShutterKeys {
    /// Whether no instance moves.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Removes all keys and keeps the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.keys.clear();
    }

    /// The span of an instance; it has no segments if the instance stands still.
    pub fn span(&self, instance: usize) -> ShutterSpan {
        self.spans.get(instance).copied().unwrap_or_default()
    }

    /// The keys of a span; empty if it has no segments.
    pub fn of(&self, span: ShutterSpan) -> &[InstanceKey] {
        let count = match span.segments {
            0 => 0,
            segments => segments as usize + 1,
        };
        let first = span.first as usize;
        self.keys.get(first..first + count).unwrap_or_default()
    }

    /// The union of the boxes returned by `boxed` at all keys, which also encloses the motion between them. `None` if a key has no box. `reach` is
    /// the extent of the instance's mesh in object space.
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
            Some(Aabb { min: bounds.min - slack, max: bounds.max + slack })
        };
        let mut keys = self.of(span).iter();
        keys.try_fold(Aabb::EMPTY, |all, key| Some(all.union(key_bounds(key)?)))
    }
}
