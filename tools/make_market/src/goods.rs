//! Small things: fruit, barrels, pots, sacks, lanterns, posters, leaves, flags and pigeons.

use crate::Part;
use crate::mesh::{Mesh, Vertex, clean, random, smoothstep, waves};
use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

pub fn parts() -> Vec<Part> {
    let mut parts: Vec<Part> = vec![
        ("apple".into(), apple()),
        ("pumpkin".into(), pumpkin()),
        ("cabbage".into(), cabbage()),
        ("loaf".into(), loaf()),
        ("barrel".into(), barrel()),
        ("hoops".into(), hoops()),
        ("pot".into(), pot()),
        ("sack".into(), sack()),
        ("lantern iron".into(), lantern_iron()),
        ("lantern glass".into(), lantern_glass()),
        ("card".into(), card()),
        ("fallen leaf".into(), fallen_leaf()),
        ("flag".into(), flag()),
        ("pigeon".into(), pigeon()),
        ("ivy patch".into(), ivy_patch()),
        ("trunk".into(), trunk()),
        ("crown".into(), crown()),
    ];
    parts.extend((0..6).map(|i| (format!("poster {}", i + 1), poster(i))));
    parts
}

/// A ball, by the direction from its middle.
fn ball(mesh: &mut Mesh, [around, up]: [u32; 2], at: impl Fn(Vec3) -> (Vec3, Vec3)) {
    let mut part = Mesh::default();
    part.grid([around, up], |u, v| {
        let (sin, cos) = (PI * (v - 0.5)).sin_cos();
        let turn = -u * TAU;
        let out = Vec3::new(cos * turn.cos(), sin, cos * turn.sin());
        let (position, color) = at(out);
        Vertex { position, normal: out, uv: Vec2::new(u, 1.0 - v), color }
    });
    weld(&mut part);
    mesh.append(&part);
}

/// Replaces normals by smooth ones also across the seam and at the poles of a ball.
fn weld(mesh: &mut Mesh) {
    let smooth = mesh.clone().smooth();
    let key = |p: Vec3| p.to_array().map(|x| (x * 20000.0).round() as i64);
    let mut sums = std::collections::BTreeMap::<_, Vec3>::new();
    for vertex in &smooth.vertices {
        *sums.entry(key(vertex.position)).or_default() += vertex.normal;
    }
    for vertex in &mut mesh.vertices {
        vertex.normal = sums[&key(vertex.position)].normalize_or(vertex.normal);
    }
}

/// Radius 4 cm, red where the sun was.
fn apple() -> Mesh {
    let mut mesh = Mesh::default();
    ball(&mut mesh, [14, 10], |d| {
        let dimple = 0.3 * smoothstep(0.55, 1.0, d.y.abs()) * if d.y > 0.0 { 1.0 } else { 0.7 };
        let position = 0.04 * Vec3::new(d.x * (1.0 + 0.08 * d.y), d.y * (0.95 - dimple), d.z * (1.0 + 0.08 * d.y))
            + Vec3::Y * 0.036;
        let red = smoothstep(-0.5, 0.5, d.x + 0.3 * waves(Vec2::new(d.z * 3.0, d.y * 3.0), 700));
        (
            position,
            Vec3::new(1.0, 0.82, 0.3).lerp(Vec3::new(0.8, 0.13, 0.09), red) * (1.0 - 0.4 * smoothstep(0.9, 1.0, d.y)),
        )
    });
    mesh
}

/// Radius 17 cm, with ribs and a stalk.
fn pumpkin() -> Mesh {
    let mut mesh = Mesh::default();
    ball(&mut mesh, [40, 12], |d| {
        let rib = (d.z.atan2(d.x) * 5.0).sin().abs().powf(0.6);
        let radius = 0.17 * (0.9 + 0.1 * rib);
        let dimple = 0.35 * smoothstep(0.6, 1.0, d.y.abs());
        (Vec3::new(d.x * radius, d.y * radius * (0.72 - dimple) + 0.115, d.z * radius), Vec3::ONE * (0.72 + 0.28 * rib))
    });
    mesh.beam(Vec3::new(0.0, 0.15, 0.0), Vec3::new(0.025, 0.22, 0.0), [0.025, 0.025], Vec3::Z, 701, |_| {
        Vec3::new(0.35, 0.4, 0.2)
    });
    mesh
}

/// Radius 11 cm, with leaves around it.
fn cabbage() -> Mesh {
    let mut mesh = Mesh::default();
    ball(&mut mesh, [14, 9], |d| (d * 0.095 + Vec3::Y * 0.1, Vec3::new(0.85, 0.95, 0.7)));
    for i in 0..9 {
        let turn = i as f32 * 2.4;
        let lean = 0.25 + 0.1 * (i / 3) as f32;
        let mut leaf = Mesh::default();
        leaf.grid([6, 5], |u, v| {
            let (x, y) = (u * 2.0 - 1.0, v);
            let width = 0.085 * (PI * (0.15 + 0.8 * y)).sin().max(0.0).sqrt();
            let ruffle = 0.012 * (x * 9.0 + i as f32).sin() * (x.abs() + y);
            let curve = 0.105 + lean * y * y * 0.1 + ruffle - 0.03 * x * x;
            let at = Vec3::new(curve, 0.02 + 0.15 * y, x * width);
            let vein = smoothstep(0.2, 0.05, x.abs());
            Vertex {
                position: at,
                normal: Vec3::X,
                uv: Vec2::new(u, v),
                color: Vec3::new(0.5, 0.75, 0.42).lerp(Vec3::new(0.95, 1.0, 0.8), 0.6 * vein),
            }
        });
        let (sin, cos) = turn.sin_cos();
        let spun = |p: Vec3| Vec3::new(p.x * cos - p.z * sin, p.y, p.x * sin + p.z * cos);
        mesh.append(&leaf.map(spun, spun).smooth());
    }
    mesh
}

/// A loaf of 24 cm with three cuts, dark on top and dusted with flour.
fn loaf() -> Mesh {
    let mut mesh = Mesh::default();
    ball(&mut mesh, [20, 12], |d| {
        let cut = [-0.45f32, 0.0, 0.45]
            .iter()
            .map(|c| smoothstep(0.12, 0.02, (d.x + 0.25 * d.z - c).abs()))
            .fold(0.0, f32::max)
            * smoothstep(0.1, 0.5, d.y);
        let height = if d.y > 0.0 { 0.075 } else { 0.03 };
        let position = Vec3::new(0.125 * d.x, d.y * height - 0.008 * cut + 0.03, 0.07 * d.z);
        let crust = Vec3::new(0.72, 0.42, 0.2).lerp(Vec3::new(0.4, 0.19, 0.08), smoothstep(0.2, 0.9, d.y));
        (position, crust.lerp(Vec3::new(0.95, 0.82, 0.6), 0.85 * cut))
    });
    mesh
}

fn staves(y: f32) -> f32 {
    0.27 + 0.07 * (PI * (y / 0.9)).sin()
}

/// 0.9 m high.
fn barrel() -> Mesh {
    let mut mesh = Mesh::default();
    let mut profile: Vec<Vec2> = (0..=8).map(|i| i as f32 * 0.1125).map(|y| Vec2::new(staves(y), y)).collect();
    profile.extend([Vec2::new(0.25, 0.9), Vec2::new(0.25, 0.85), Vec2::new(0.0, 0.85)]);
    mesh.turned(&profile, 24, Vec2::new(2.0, 1.0 / 1.6), |at| Vec3::ONE * (0.65 + 0.35 * smoothstep(0.0, 0.4, at.y)));
    mesh
}

fn hoops() -> Mesh {
    let mut mesh = Mesh::default();
    for y in [0.06f32, 0.25, 0.62, 0.81] {
        let r = |y: f32| staves(y) + 0.006;
        mesh.turned(&[Vec2::new(r(y), y), Vec2::new(r(y + 0.045), y + 0.045)], 24, Vec2::ONE, clean);
    }
    mesh
}

/// A jug-like pot of clay, 0.4 m high.
fn pot() -> Mesh {
    let mut mesh = Mesh::default();
    let profile = [
        (0.0, 0.0),
        (0.09, 0.0),
        (0.13, 0.06),
        (0.16, 0.14),
        (0.165, 0.2),
        (0.145, 0.28),
        (0.1, 0.34),
        (0.09, 0.37),
        (0.115, 0.4),
        (0.105, 0.405),
        (0.075, 0.37),
        (0.1, 0.25),
    ];
    mesh.turned(&profile.map(|(r, y)| Vec2::new(r, y)), 24, Vec2::new(2.0, 2.0), |at| {
        Vec3::ONE * (0.7 + 0.3 * smoothstep(0.0, 0.2, at.y))
    });
    mesh
}

/// A sack of grain with a rolled rim, 0.55 m high.
fn sack() -> Mesh {
    let mut mesh = Mesh::default();
    let profile = [
        (0.0, 0.0),
        (0.2, 0.0),
        (0.255, 0.05),
        (0.275, 0.14),
        (0.265, 0.26),
        (0.235, 0.38),
        (0.225, 0.46),
        (0.25, 0.5),
        (0.27, 0.53),
        (0.255, 0.55),
        (0.225, 0.53),
        (0.205, 0.5),
        (0.1, 0.52),
        (0.0, 0.53),
    ];
    mesh.turned(&profile.map(|(r, y)| Vec2::new(r, y)), 28, Vec2::ONE, |at| {
        let is_grain = Vec2::new(at.x, at.z).length() < 0.21 && at.y > 0.4;
        if is_grain { Vec3::new(1.0, 0.85, 0.55) } else { Vec3::splat(0.55 + 0.45 * smoothstep(0.0, 0.25, at.y)) }
    });
    let crumpled = |p: Vec3| {
        let turn = p.z.atan2(p.x);
        let folds = waves(Vec2::new(turn.cos() * 2.2 + p.y * 3.0, turn.sin() * 2.2), 702)
            + 0.5 * waves(Vec2::new(turn.cos() * 5.0, turn.sin() * 5.0 + p.y * 7.0), 703);
        let out = 1.0 + 0.12 * folds;
        Vec3::new(p.x * out, p.y + 0.015 * folds * (p.y * 3.0).min(1.0), p.z * out)
    };
    let mut mesh = mesh.map(crumpled, |n| n);
    weld(&mut mesh);
    mesh
}

/// A bracket from a wall at z = 0, with a lantern at (0, 0, 0.6).
fn lantern_iron() -> Mesh {
    let mut mesh = Mesh::default();
    let mut bar =
        |from: [f32; 3], to: [f32; 3], size: f32| mesh.beam(from.into(), to.into(), [size, size], Vec3::X, 710, clean);
    bar([0.0, 0.5, 0.0], [0.0, 0.5, 0.66], 0.028);
    bar([0.0, 0.05, 0.01], [0.0, 0.46, 0.45], 0.022);
    bar([0.0, 0.0, 0.0], [0.0, 0.62, 0.0], 0.04);
    bar([0.0, 0.34, 0.6], [0.0, 0.5, 0.6], 0.014);
    for i in 0..6 {
        let (sin, cos) = (i as f32 / 6.0 * TAU).sin_cos();
        bar([0.08 * cos, 0.0, 0.6 + 0.08 * sin], [0.12 * cos, 0.24, 0.6 + 0.12 * sin], 0.014);
    }
    for profile in
        [vec![(0.14, 0.24), (0.05, 0.32), (0.02, 0.35)], vec![(0.0, -0.04), (0.09, -0.01), (0.09, 0.01), (0.0, 0.01)]]
    {
        let profile: Vec<Vec2> = profile.into_iter().map(|(r, y)| Vec2::new(r, y)).collect();
        let mut part = Mesh::default();
        part.turned(&profile, 6, Vec2::ONE, clean);
        mesh.append(&part.map(|p| p + Vec3::Z * 0.6, |n| n));
    }
    mesh
}

fn lantern_glass() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.turned(
        &[Vec2::new(0.03, 0.02), Vec2::new(0.045, 0.08), Vec2::new(0.03, 0.16), Vec2::new(0.0, 0.2)],
        10,
        Vec2::ONE,
        clean,
    );
    mesh.map(|p| p + Vec3::Z * 0.6, |n| n)
}

/// A bent card of 1 m that leans to +Y, so that copies turned about +Y differ.
fn card() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.grid([2, 2], |u, v| {
        let (x, z) = (u - 0.5, 0.5 - v);
        Vertex {
            position: Vec3::new(x, 0.35 * z + 0.3 * (0.25 - x * x) - 0.3 * z * z, z),
            normal: Vec3::Y,
            uv: Vec2::new(u, 1.0 - v),
            color: Vec3::ONE,
        }
    });
    mesh.smooth()
}

/// 9 cm long, curled.
fn fallen_leaf() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.grid([4, 5], |u, v| {
        let x = u * 2.0 - 1.0;
        let width = 0.03 * (PI * v.powf(0.8)).sin().max(0.02) * (1.0 + 0.15 * (v * 17.0).sin());
        let position =
            Vec3::new(x * width, 0.004 + 0.012 * x * x + 0.018 * (v - 0.4) * (v - 0.4) * 4.0, 0.045 - 0.09 * v);
        let vein = smoothstep(0.3, 0.0, x.abs());
        Vertex { position, normal: Vec3::Y, uv: Vec2::new(u, v), color: Vec3::ONE * (0.75 + 0.25 * vein) }
    });
    mesh.smooth()
}

/// A pennant that hangs from (0, 0, 0), 0.22 wide along X and 0.3 long.
fn flag() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.grid([4, 4], |u, v| {
        let down = 1.0 - v;
        let x = (u - 0.5) * 0.22 * (1.0 - 0.96 * down);
        let position = Vec3::new(x, -0.3 * down, 0.03 * (u * 4.0 + down * 3.0).sin() * down);
        Vertex { position, normal: Vec3::Z, uv: Vec2::new(u * 0.3, 0.1), color: Vec3::ONE * (0.85 + 0.15 * v) }
    });
    mesh.smooth()
}

/// A pigeon, 30 cm long, that looks along +X.
fn pigeon() -> Mesh {
    let grey = Vec3::new(0.3, 0.34, 0.4);
    let mut mesh = Mesh::default();
    ball(&mut mesh, [16, 12], |d| {
        let taper = 1.0 - 0.45 * smoothstep(0.0, -1.0, d.x);
        let position = Vec3::new(d.x * 0.12, d.y * 0.062 * taper + 0.13 + 0.03 * d.x, d.z * 0.062 * taper);
        let bar = smoothstep(0.06, 0.02, (d.x + 0.35).abs()).max(smoothstep(0.05, 0.02, (d.x + 0.6).abs()))
            * smoothstep(0.3, 0.6, d.z.abs());
        (position, (grey * (0.85 + 0.3 * d.y)).lerp(Vec3::splat(0.05), 0.8 * bar))
    });
    ball(&mut mesh, [12, 10], |d| {
        let position = Vec3::new(0.1 + d.x * 0.035 + 0.02 * d.y, 0.2 + d.y * 0.06, d.z * 0.032);
        (position, Vec3::new(0.18, 0.24, 0.24).lerp(Vec3::new(0.22, 0.16, 0.26), smoothstep(-0.2, 0.4, d.z * d.y)))
    });
    ball(&mut mesh, [10, 8], |d| (Vec3::new(0.122, 0.258, 0.0) + d * 0.028, grey * 0.75));
    mesh.beam(Vec3::new(0.145, 0.256, 0.0), Vec3::new(0.172, 0.248, 0.0), [0.009, 0.009], Vec3::Z, 720, |_| {
        Vec3::splat(0.15)
    });
    mesh.beam(Vec3::new(-0.08, 0.115, 0.0), Vec3::new(-0.2, 0.075, 0.0), [0.06, 0.012], Vec3::Z, 721, |_| grey * 0.7);
    for z in [-0.022, 0.022] {
        mesh.beam(Vec3::new(0.02, 0.08, z), Vec3::new(0.025, 0.0, z), [0.008, 0.008], Vec3::Z, 722, |_| {
            Vec3::new(0.6, 0.2, 0.17)
        });
        mesh.beam(Vec3::new(0.0, 0.006, z), Vec3::new(0.05, 0.006, z), [0.016, 0.008], Vec3::Z, 723, |_| {
            Vec3::new(0.6, 0.2, 0.17)
        });
    }
    mesh
}

/// A sheet of paper of 0.52 by 0.73 m at z = 0 that faces +Z, one corner of which has come off.
fn poster(number: u32) -> Mesh {
    let (column, row) = ((number % 3) as f32, (number / 3) as f32);
    let mut mesh = Mesh::default();
    mesh.grid([8, 10], |u, v| {
        let wave = 0.004 + 0.004 * (1.0 + waves(Vec2::new(u * 3.0, v * 4.0), 730 + number));
        let corner = if number.is_multiple_of(2) { Vec2::new(u, v) } else { Vec2::new(1.0 - u, v) };
        let loose = (1.0 - corner.length() / 0.3).max(0.0);
        let curl = 0.07 * loose * loose;
        let position = Vec3::new((u - 0.5) * 0.52, (v - 0.5) * 0.73 + 0.3 * curl, wave + curl);
        Vertex { position, normal: Vec3::Z, uv: Vec2::new((column + u) / 3.0, (row + 1.0 - v) / 2.0), color: Vec3::ONE }
    });
    mesh.smooth()
}

/// Where ivy grows on a wall at z = 0: broad above, with ends that hang down.
fn ivy_patch() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.grid([16, 10], |u, v| {
        let x = (u - 0.5) * 3.0;
        let low =
            1.5 + 0.9 * waves(Vec2::new(x * 1.6, 0.0), 740) + 0.5 * waves(Vec2::new(x * 4.3, 5.0), 743) + 0.35 * x * x;
        let y = low.min(2.9) + (3.3 + 0.5 * waves(Vec2::new(x, 3.0), 741) - low.min(2.9)) * v;
        let position = Vec3::new(x, y, 0.06 + 0.1 * v + 0.06 * waves(Vec2::new(x, y) * 2.0, 742));
        Vertex { position, normal: Vec3::Z, uv: Vec2::new(u, v), color: Vec3::ONE }
    });
    mesh.smooth()
}

/// 3.4 m high, with four branches.
fn trunk() -> Mesh {
    let mut mesh = Mesh::default();
    let mut limb = |from: Vec3, to: Vec3, [thick, thin]: [f32; 2], bend: Vec3, n: u32| {
        mesh.grid([12, 10], |u, v| {
            let axis = (to - from).normalize();
            let side = axis.cross(Vec3::new(0.3, 0.1, 1.0)).normalize();
            let (sin, cos) = (-u * TAU).sin_cos();
            let out = side * cos + axis.cross(side) * sin;
            let ridges = 1.0
                + 0.1 * waves(Vec2::new((u * TAU).sin() * 3.0, v * 2.0 + (u * TAU).cos() * 3.0), n)
                + 0.5 * (1.0 - v).powi(8) * f32::from(u8::from(n == 750));
            let radius = (thick + (thin - thick) * v) * ridges;
            let position = from.lerp(to, v) + bend * (v * PI).sin() + out * radius;
            Vertex { position, normal: out, uv: Vec2::new(u * 2.0 * thick * 4.0, -v * 2.0), color: Vec3::splat(0.7) }
        });
    };
    limb(Vec3::ZERO, Vec3::new(0.2, 3.4, 0.1), [0.2, 0.13], Vec3::new(-0.1, 0.0, 0.05), 750);
    for i in 0..4 {
        let (sin, cos) = (i as f32 * 1.7).sin_cos();
        let from = Vec3::new(0.2, 2.9 + 0.12 * i as f32, 0.1);
        limb(from, from + Vec3::new(1.3 * cos, 1.3 + 0.2 * i as f32, 1.3 * sin), [0.09, 0.03], Vec3::Y * 0.15, 751 + i);
    }
    mesh
}

/// Lumps about 4.9 m above the ground, on which cards of leaves grow.
fn crown() -> Mesh {
    let mut mesh = Mesh::default();
    for i in 0..7 {
        let middle = if i == 0 {
            Vec3::ZERO
        } else {
            Vec3::new((i as f32 * 1.05).cos() * 1.2, 0.7 * (random(i, 760) - 0.4), (i as f32 * 1.05).sin() * 1.2)
        };
        let radius = 0.75 + 0.4 * random(i, 761);
        ball(&mut mesh, [8, 6], |d| (Vec3::new(0.2, 5.0, 0.1) + middle + d * radius, Vec3::ONE));
    }
    mesh
}
