//! Boxes of instances that move while the shutter is open.

use crate::support::rounding_slack;
use glam::{Affine3, Vec3};
use throng_abi::InstanceKey;
use throng_base::math::{Aabb, affine_from_rows};
use throng_scene::{ShutterKeys, ShutterSpan};

/// Factor for the rounding slack of a key's own box. It covers the rounding of interpolated matrices and of their inverses, which kernels compute in
/// single precision.
const MORE_ROUNDING: f32 = 3.0;

/// The union of the boxes returned by `boxed` at all keys of a span, which also encloses the motion between them. `None` if a key has no box.
/// `reach` is the extent of the instance's mesh in object space.
pub fn bounds(
    keys: &ShutterKeys,
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
    let mut keys = keys.of(span).iter();
    keys.try_fold(Aabb::EMPTY, |all, key| Some(all.union(key_bounds(key)?)))
}
