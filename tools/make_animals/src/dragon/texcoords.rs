//! Texture coordinates: a few charts that follow the anatomy, with equal texel density.
//!
//! Every chart is mirrored about the middle of its part, so that it closes around the part without a seam. Seams remain only where charts
//! meet.

use super::body::Dragon;
use crate::modelling::mesher::Mesh;
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Size on the model of one repetition of the texture.
const TILE: f32 = 2.0;

/// A part of the surface with its own mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chart {
    Trunk,
    Head,
    Spade,
    Wing(usize),
    Leg(usize),
}

/// Texture coordinates, and three indices into them per triangle.
pub struct TexCoords {
    pub coords: Vec<Vec2>,
    pub triangles: Vec<[u32; 3]>,
}

/// Maps a mesh of the dragon.
pub fn map(dragon: &Dragon, mesh: &Mesh) -> TexCoords {
    let charts: Vec<Chart> = mesh
        .triangles
        .par_iter()
        .map(|corners| {
            let sum: Vec3 = corners.iter().map(|&c| mesh.points[c as usize]).sum();
            chart_at(dragon, sum / 3.0)
        })
        .collect();
    let mut coords = Vec::new();
    let mut numbers: HashMap<(u32, Chart), u32> = HashMap::new();
    let triangles = mesh
        .triangles
        .iter()
        .zip(&charts)
        .map(|(corners, &chart)| {
            corners.map(|corner| {
                *numbers.entry((corner, chart)).or_insert_with(|| {
                    coords.push(coordinates(dragon, chart, mesh.points[corner as usize]) / TILE);
                    coords.len() as u32 - 1
                })
            })
        })
        .collect();
    TexCoords { coords, triangles }
}

/// The chart of the part nearest to a point on the surface.
pub fn chart_at(dragon: &Dragon, p: Vec3) -> Chart {
    const SKULL_START: f32 = 0.1;
    const SKULL_REACH: f32 = 2.2;
    let trunk = dragon.spine.place(p);
    let local = dragon.head.local(p);
    if local.length() < SKULL_REACH && (local.x > SKULL_START || trunk.from_axis > 0.55) {
        return Chart::Head;
    }
    if p.distance(dragon.spine.station(0.0).point) < 1.0 && trunk.along < 0.05 {
        return Chart::Spade;
    }
    for (i, wing) in dragon.wings.iter().enumerate() {
        if trunk.distance > 0.12 && wing.skin_distance(p) < 0.2 {
            return Chart::Wing(i);
        }
    }
    let legs = dragon.legs.iter().map(|leg| leg.place(p).distance);
    let nearest = legs.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    match nearest {
        Some((i, distance)) if distance < trunk.distance => Chart::Leg(i),
        _ => Chart::Trunk,
    }
}

/// Coordinates of a point in a chart, in model units.
fn coordinates(dragon: &Dragon, chart: Chart, p: Vec3) -> Vec2 {
    match chart {
        Chart::Trunk => {
            let place = dragon.spine.place(p);
            let raised = (place.from_axis - place.radius).max(0.0);
            Vec2::new(place.along, place.angle.abs() * place.radius - raised)
        }
        Chart::Head => {
            let local = dragon.head.local(p);
            Vec2::new(local.x, local.y - 0.8 * local.z.abs())
        }
        Chart::Spade => {
            let tip = dragon.spine.station(0.0);
            let from_tip = p - tip.point;
            Vec2::new(from_tip.dot(tip.forward), from_tip.dot(tip.right))
        }
        Chart::Wing(i) => dragon.wings[i].flatten(p).truncate(),
        Chart::Leg(i) => {
            let place = dragon.legs[i].place(p);
            Vec2::new(place.along, place.angle.abs() * place.radius)
        }
    }
}
