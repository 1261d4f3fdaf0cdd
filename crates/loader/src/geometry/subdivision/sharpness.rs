//! Rules of vertices and edges by their sharpness, as in OpenSubdiv (`Sdc::Crease`, method `uniform`).
//!
//! DeRose, Kass and Truong, "Subdivision surfaces in character animation", 1998.

/// Sharpness from which on an edge or a vertex stays sharp at all levels.
pub const INFINITE: f32 = 10.0;

/// How a vertex moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// As without sharpness, also at the end of a crease.
    Smooth,
    /// Along a curve between these edges of its fan.
    Crease([usize; 2]),
    /// Not at all.
    Corner,
}

/// The sharpness at the next level.
pub fn decremented(sharpness: f32) -> f32 {
    if sharpness >= INFINITE { INFINITE } else { (sharpness - 1.0).max(0.0) }
}

/// The sharpness that remains after `levels` levels.
pub fn remaining(sharpness: f32, levels: u32) -> f32 {
    (0..levels).fold(sharpness, |sharpness, _| decremented(sharpness))
}

/// The rule of a vertex with the sharpness of its edges, in the order of its fan.
pub fn rule(vertex: f32, edges: &[f32]) -> Rule {
    let mut sharp = edges.iter().enumerate().filter(|(_, sharpness)| **sharpness > 0.0).map(|(edge, _)| edge);
    if vertex > 0.0 {
        return Rule::Corner;
    }
    match (sharp.next(), sharp.next(), sharp.next()) {
        (Some(a), Some(b), None) => Rule::Crease([a, b]),
        (_, _, None) => Rule::Smooth,
        _ => Rule::Corner,
    }
}

/// The rules by which a vertex moves to the next level, with their weights: its own, and the one that it has there.
pub fn rules(vertex: f32, edges: &[f32]) -> [(Rule, f64); 2] {
    let own = rule(vertex, edges);
    if own == Rule::Smooth {
        return [(own, 1.0), (own, 0.0)];
    }
    let later: Vec<f32> = edges.iter().map(|&sharpness| decremented(sharpness)).collect();
    let next = rule(decremented(vertex), &later);
    if std::mem::discriminant(&own) == std::mem::discriminant(&next) {
        return [(own, 1.0), (next, 0.0)];
    }
    let ending = edges.iter().chain([&vertex]).filter(|sharpness| **sharpness > 0.0 && decremented(**sharpness) <= 0.0);
    let (sum, count) = ending.fold((0.0, 0), |(sum, count), &sharpness| (sum + f64::from(sharpness), count + 1));
    let share = if count == 0 { 0.0 } else { (sum / f64::from(count)).min(1.0) };
    [(own, share), (next, 1.0 - share)]
}
