//! Cobbles, bricks and hewn stone.

use crate::coursed::{Courses, Stone, choose};
use crate::noise::{fractal, mix, noise, pits, smoothstep, wobble};
use crate::surface::Surface;
use glam::{Vec2, Vec3};

pub const COBBLES_SIDE: f32 = 2.4;
pub const BRICKS_SIDE: f32 = 3.0;
pub const ASHLAR_SIDE: f32 = 2.4;

const MOSS: Vec3 = Vec3::new(0.31, 0.33, 0.17);

/// Setts of granite and basalt with worn tops, in joints of sand, moss and water.
pub fn cobbles(at: Vec2) -> Surface {
    const COURSES: Courses =
        Courses { side: COBBLES_SIDE, rows: 18, per_row: 15, shift: 0.22, row_shift: 0.12, seed: 60 };
    const GRANITES: [(f32, Vec3); 6] = [
        (4.0, Vec3::new(0.51, 0.5, 0.48)),
        (3.0, Vec3::new(0.56, 0.53, 0.48)),
        (2.0, Vec3::new(0.45, 0.45, 0.455)),
        (2.0, Vec3::new(0.5, 0.45, 0.4)),
        (0.7, Vec3::new(0.51, 0.43, 0.39)),
        (0.8, Vec3::new(0.37, 0.37, 0.38)),
    ];
    let stone = COURSES.stone(at + wobble(at, 10, 3, 61) * 0.012 + wobble(at, 48, 2, 63) * 0.003);
    let corner = 0.022 + 0.022 * stone.random(65);
    let inside = -stone.distance(0.009 + 0.009 * stone.random(66), corner);
    let lumps = fractal(at, 30, 3, 67) - 0.5;
    let tilt = (Vec2::new(stone.random(68), stone.random(69)) - 0.5) * 0.1;
    let dome = 1.0 - (-(inside.max(0.0)) / 0.017).exp();
    let height =
        0.01 + 0.02 * dome + stone.at.dot(tilt) * dome + 0.006 * lumps * dome + 0.006 * (stone.random(70) - 0.5);
    let speckles = noise(at, 420, 71) - 0.5;
    let worn = smoothstep(0.35, 0.95, dome) * smoothstep(0.3, 0.7, fractal(at, 12, 3, 72));
    let tone = 0.86 + 0.28 * stone.random(73);
    let color =
        choose(&GRANITES, stone.random(74)) * tone * (1.0 + 0.22 * speckles + 0.25 * lumps) * (0.84 + 0.2 * worn);
    let dust = smoothstep(0.45, 0.75, fractal(at, 5, 4, 75));
    let color = color.lerp(Vec3::new(0.5, 0.44, 0.36), 0.28 * dust * (1.0 - 0.5 * worn));
    let sett = Surface { color, height, roughness: mix(0.62, 0.36, worn) + 0.16 * dust + 0.1 * lumps };
    let joint = joint_of_cobbles(at);
    sett.lerp(joint, smoothstep(0.004, -0.002, inside))
}

/// Sand with crumbs, moss in patches, and water where it is lowest.
fn joint_of_cobbles(at: Vec2) -> Surface {
    let crumbs = fractal(at, 160, 2, 80);
    let moss = smoothstep(0.5, 0.64, fractal(at, 4, 4, 81)) * smoothstep(0.3, 0.55, fractal(at, 60, 2, 82));
    let wet = smoothstep(0.55, 0.68, fractal(at, 3, 4, 83));
    let sand = Vec3::new(0.36, 0.31, 0.25) * (0.7 + 0.6 * crumbs) * mix(1.0, 0.68, wet);
    Surface {
        color: sand.lerp(MOSS * (0.65 + 0.7 * crumbs), moss),
        height: 0.004 + 0.004 * crumbs + 0.007 * moss,
        roughness: mix(mix(0.92, 0.22, wet), 0.95, moss),
    }
}

/// Flemish bond, in which long and short bricks take turns, with soot, salt and chipped edges.
pub fn bricks(at: Vec2) -> Surface {
    let (stone, size) = flemish(at + wobble(at, 120, 2, 90) * 0.0016);
    const CLAYS: [(f32, Vec3); 6] = [
        (5.0, Vec3::new(0.6, 0.34, 0.25)),
        (3.0, Vec3::new(0.65, 0.41, 0.3)),
        (3.0, Vec3::new(0.52, 0.29, 0.23)),
        (1.5, Vec3::new(0.42, 0.26, 0.23)),
        (1.0, Vec3::new(0.68, 0.5, 0.37)),
        (0.6, Vec3::new(0.33, 0.24, 0.22)),
    ];
    let chips = 0.005 * smoothstep(0.55, 0.8, fractal(at, 40, 3, 92));
    let inside = -stone.distance(0.011, 0.006) - chips;
    let grit = fractal(at, 130, 3, 93) - 0.5;
    let spalled = smoothstep(0.86, 0.9, stone.random(94)) * smoothstep(0.42, 0.58, fractal(at, 14, 3, 95));
    let tone = 0.88 + 0.24 * stone.random(96) + 0.06 * (size - 1.0);
    let blotch = fractal(at, 18, 3, 97) - 0.5;
    let clay = choose(&CLAYS, stone.random(98)) * tone * (1.0 + 0.22 * grit + 0.3 * blotch);
    let clay = clay.lerp(Vec3::new(0.7, 0.5, 0.38), 0.5 * spalled);
    let soot = smoothstep(0.48, 0.8, fractal(at, 3, 5, 99));
    let salt = smoothstep(0.6, 0.78, fractal(at, 4, 5, 100)) * smoothstep(0.3, 0.6, fractal(at, 50, 2, 101));
    let clay = (clay * (1.0 - 0.3 * soot)).lerp(Vec3::new(0.74, 0.7, 0.65), 0.34 * salt);
    let round = 1.0 - (-inside.max(0.0) / 0.004).exp();
    let tilt = stone.at.x * 0.03 * (stone.random(102) - 0.5);
    let brick = Surface {
        color: clay,
        height: 0.004 + 0.008 * round + 0.003 * (stone.random(103) - 0.5) + tilt + 0.0025 * grit - 0.004 * spalled
            + 0.003 * blotch,
        roughness: 0.85,
    };
    brick.lerp(mortar(at, soot), smoothstep(0.0015, -0.0015, inside))
}

fn mortar(at: Vec2, soot: f32) -> Surface {
    let crumbs = fractal(at, 150, 2, 110);
    let moss = smoothstep(0.6, 0.72, fractal(at, 5, 4, 111));
    let lime = Vec3::new(0.66, 0.61, 0.53) * (0.8 + 0.35 * crumbs) * (1.0 - 0.3 * soot);
    let lost = smoothstep(0.55, 0.75, fractal(at, 9, 3, 112));
    Surface {
        color: (lime * (1.0 - 0.3 * lost)).lerp(MOSS, 0.6 * moss),
        height: 0.004 + 0.003 * crumbs - 0.004 * lost,
        roughness: 0.95,
    }
}

/// The brick at a point of a Flemish bond, and the length of the brick relative to the mean.
fn flemish(at: Vec2) -> (Stone, f32) {
    const ROWS: f32 = 36.0;
    const PAIRS: f32 = 8.0;
    let y = at.y.rem_euclid(1.0) * ROWS;
    let row = y as u32;
    // Headers lie above the middles of stretchers.
    let x = (at.x + if row % 2 == 1 { 0.5 / PAIRS } else { 0.0 }).rem_euclid(1.0) * PAIRS;
    let (pair, x) = (x as u32, x.fract() * 3.0);
    let (column, start, length) = if x < 2.0 { (2 * pair, 0.0, 2.0) } else { (2 * pair + 1, 2.0, 1.0) };
    let unit = BRICKS_SIDE / PAIRS / 3.0;
    let middle = Vec2::new((x - start - length / 2.0) * unit, (y.fract() - 0.5) * BRICKS_SIDE / ROWS);
    let half = Vec2::new(length * unit, BRICKS_SIDE / ROWS) / 2.0;
    (Stone { at: middle, half, row, column }, length / 1.5)
}

/// Blocks of sandstone with tooled faces and open joints.
pub fn ashlar(at: Vec2) -> Surface {
    const COURSES: Courses =
        Courses { side: ASHLAR_SIDE, rows: 8, per_row: 4, shift: 0.24, row_shift: 0.14, seed: 120 };
    const STONES: [(f32, Vec3); 4] = [
        (4.0, Vec3::new(0.7, 0.62, 0.5)),
        (2.0, Vec3::new(0.66, 0.56, 0.43)),
        (2.0, Vec3::new(0.63, 0.58, 0.51)),
        (1.0, Vec3::new(0.7, 0.56, 0.44)),
    ];
    let stone = COURSES.stone(at + wobble(at, 12, 3, 121) * 0.006);
    let chips = 0.02 * smoothstep(0.6, 0.85, fractal(at, 14, 4, 123));
    let inside = -stone.distance(0.012, 0.014) - chips;
    let grit = fractal(at, 120, 3, 124) - 0.5;
    let bumps = fractal(at, 16, 4, 125) - 0.5;
    let holes = pits(at, 50, 126).max(0.8 * pits(at, 110, 127));
    let bedding = noise(Vec2::new(at.x, at.y * 1.0 + 0.02 * bumps), 60, 128) - 0.5;
    let soot = smoothstep(0.42, 0.75, fractal(at, 3, 5, 129));
    let lichen = smoothstep(0.62, 0.74, fractal(at, 7, 5, 130));
    let color = choose(&STONES, stone.random(131)) * (0.9 + 0.2 * stone.random(132));
    let color = color * (1.0 + 0.2 * grit + 0.3 * bumps + 0.08 * bedding - 0.22 * holes) * (1.0 - 0.32 * soot);
    let color = color.lerp(Vec3::new(0.62, 0.6, 0.42), 0.35 * lichen);
    let round = 1.0 - (-inside.max(0.0) / 0.012).exp();
    let block = Surface {
        color,
        height: 0.01 + 0.014 * round + 0.004 * grit + 0.014 * bumps - 0.004 * holes + 0.006 * (stone.random(133) - 0.5),
        roughness: 0.9,
    };
    let moss = smoothstep(0.5, 0.62, fractal(at, 4, 4, 134));
    let crumbs = fractal(at, 140, 2, 135);
    let lime = Vec3::new(0.5, 0.45, 0.37) * (0.7 + 0.5 * crumbs) * (1.0 - 0.3 * soot);
    let joint = Surface { color: lime.lerp(MOSS, 0.75 * moss), height: 0.004 + 0.004 * crumbs, roughness: 0.95 };
    block.lerp(joint, smoothstep(0.003, -0.003, inside))
}
