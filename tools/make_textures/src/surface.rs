//! What the painters return for a point of a surface.

use glam::Vec3;

/// A point of a surface that will be stored in several textures.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// Colour in sRGB, 0 to 1, without any light.
    pub color: Vec3,
    /// Height above the lowest point, in metres.
    pub height: f32,
    pub roughness: f32,
}

impl Surface {
    /// This surface at 0, the other one at 1.
    pub fn lerp(self, other: Self, t: f32) -> Self {
        Self {
            color: self.color.lerp(other.color, t),
            height: self.height + (other.height - self.height) * t,
            roughness: self.roughness + (other.roughness - self.roughness) * t,
        }
    }
}
