//! Lime plaster: sound, and fallen off above the ground.

use crate::masonry::bricks;
use crate::noise::{fractal, grain, mix, smoothstep, vein};
use crate::surface::Surface;
use glam::{Vec2, Vec3};

/// Side of the square in metres, as of the bricks below.
pub const SIDE: f32 = 3.0;

/// Pale plaster for tinted walls: trowel marks, hairline cracks, streaks of rain.
pub fn sound(at: Vec2) -> Surface {
    let grit = fractal(at, 170, 2, 140) - 0.5;
    let trowel = fractal(at, 9, 4, 141) - 0.5;
    let clouds = fractal(at, 3, 5, 142) - 0.5;
    let streaks = grain(at, [34, 2], 3, 143);
    let streaks = smoothstep(0.52, 0.8, streaks) * smoothstep(0.35, 0.65, fractal(at, 3, 3, 144));
    let crack = vein(at, 3, 145, 0.008) * smoothstep(0.5, 0.65, fractal(at, 4, 3, 146));
    let patch = smoothstep(0.63, 0.66, fractal(at, 4, 4, 147));
    let pale = Vec3::new(0.86, 0.84, 0.8) * (1.0 + 0.07 * grit + 0.14 * clouds + 0.1 * trowel);
    let pale = pale * (1.0 - 0.14 * streaks) * (1.0 - 0.35 * crack);
    Surface {
        color: pale.lerp(Vec3::new(0.8, 0.77, 0.71) * (1.0 + 0.1 * grit), 0.6 * patch),
        height: 0.01 + 0.002 * grit + 0.008 * trowel - 0.002 * crack - 0.0015 * patch,
        roughness: 0.9,
    }
}

/// A wall of a ground floor, from the ground at the bottom to 3 m: damp at its foot, where the plaster has fallen off the bricks.
pub fn fallen(at: Vec2) -> Surface {
    let above = 1.0 - at.y;
    let edge = fractal(at, 4, 6, 150);
    let cover = above * 0.9 + (edge - 0.5) * 1.35 - 0.08;
    let hole = fractal(at, 3, 5, 151) - 0.08 * smoothstep(0.6, 1.0, above);
    let cover = cover.min((0.66 - hole) * 3.0);
    let plaster = sound(at);
    let damp = smoothstep(0.5, 0.05, above + 0.25 * (fractal(at, 5, 4, 152) - 0.5));
    let rim = smoothstep(0.16, 0.03, cover);
    let dirty = plaster.color * (1.0 - 0.28 * damp) * Vec3::ONE.lerp(Vec3::new(0.9, 0.87, 0.8), rim);
    let algae = smoothstep(0.24, 0.04, above + 0.16 * (fractal(at, 8, 4, 153) - 0.5));
    let whole = Surface {
        color: dirty.lerp(Vec3::new(0.36, 0.37, 0.24), 0.5 * algae),
        height: plaster.height + 0.012,
        ..plaster
    };
    let under = bricks(at);
    let chalk = fractal(at, 20, 4, 154);
    let bare = Surface {
        color: under
            .color
            .lerp(Vec3::new(0.76, 0.71, 0.64), 0.35 * smoothstep(0.4, 0.7, chalk))
            .lerp(Vec3::new(0.34, 0.34, 0.22), 0.55 * algae),
        ..under
    };
    let mut wall = bare.lerp(whole, smoothstep(-0.012, 0.012, cover));
    // The broken edge of the plaster is pale, and throws a shadow line.
    let broken = smoothstep(0.03, 0.0, cover.abs());
    wall.color = wall.color.lerp(Vec3::new(0.8, 0.76, 0.69), 0.5 * broken * smoothstep(-0.02, 0.01, cover));
    wall.roughness = mix(0.92, 0.8, damp);
    wall
}
