//! Type for posters: capitals of strokes, thick downwards and thin across, with serifs, stretched to fill a line.

use glam::Vec2;
use std::f32::consts::TAU;

/// Height of capitals in units of the glyphs.
const CAPITAL: f32 = 6.0;
/// Space between letters.
const GAP: f32 = 1.7;

/// Part of a glyph. Positions are from the left end of the baseline, y upwards.
enum Mark {
    /// A line from a point to another.
    Line(f32, f32, f32, f32),
    /// An arc: middle, radii, and angles from and to in degrees.
    Arc(f32, f32, f32, f32, f32, f32),
}
use Mark::{Arc, Line};

/// Width and strokes of a character; those without a glyph are spaces.
fn glyph(letter: char) -> (f32, &'static [Mark]) {
    match letter {
        'A' => (4.2, &[Line(0.0, 0.0, 2.1, 6.0), Line(2.1, 6.0, 4.2, 0.0), Line(0.7, 1.9, 3.5, 1.9)]),
        'B' => (
            3.5,
            &[
                Line(0.0, 0.0, 0.0, 6.0),
                Line(0.0, 6.0, 1.8, 6.0),
                Arc(1.8, 4.6, 1.4, 1.4, 90.0, -90.0),
                Line(1.8, 3.2, 0.0, 3.2),
                Arc(1.8, 1.6, 1.7, 1.6, 90.0, -90.0),
                Line(0.0, 0.0, 1.8, 0.0),
            ],
        ),
        'C' => (3.8, &[Arc(2.0, 3.0, 2.0, 3.0, 45.0, 315.0)]),
        'D' => (
            3.8,
            &[
                Line(0.0, 0.0, 0.0, 6.0),
                Line(0.0, 6.0, 1.5, 6.0),
                Arc(1.5, 3.0, 2.3, 3.0, 90.0, -90.0),
                Line(1.5, 0.0, 0.0, 0.0),
            ],
        ),
        'E' => (
            3.2,
            &[Line(0.0, 0.0, 0.0, 6.0), Line(0.0, 6.0, 3.2, 6.0), Line(0.0, 3.1, 2.4, 3.1), Line(0.0, 0.0, 3.2, 0.0)],
        ),
        'F' => (3.1, &[Line(0.0, 0.0, 0.0, 6.0), Line(0.0, 6.0, 3.1, 6.0), Line(0.0, 3.0, 2.3, 3.0)]),
        'G' => (4.0, &[Arc(2.0, 3.0, 2.0, 3.0, 45.0, 320.0), Line(3.7, 2.7, 3.7, 0.7), Line(2.3, 2.7, 3.7, 2.7)]),
        'H' => (3.8, &[Line(0.0, 0.0, 0.0, 6.0), Line(3.8, 0.0, 3.8, 6.0), Line(0.0, 3.1, 3.8, 3.1)]),
        'I' => (0.6, &[Line(0.3, 0.0, 0.3, 6.0)]),
        'J' => (2.4, &[Line(2.2, 6.0, 2.2, 1.5), Arc(1.1, 1.5, 1.1, 1.5, 0.0, -180.0)]),
        'K' => (3.8, &[Line(0.0, 0.0, 0.0, 6.0), Line(0.0, 2.3, 3.5, 6.0), Line(1.3, 3.6, 3.8, 0.0)]),
        'L' => (3.0, &[Line(0.0, 0.0, 0.0, 6.0), Line(0.0, 0.0, 3.0, 0.0)]),
        'M' => (
            4.8,
            &[Line(0.0, 0.0, 0.0, 6.0), Line(0.0, 6.0, 2.4, 1.0), Line(2.4, 1.0, 4.8, 6.0), Line(4.8, 6.0, 4.8, 0.0)],
        ),
        'N' => (4.0, &[Line(0.0, 0.0, 0.0, 6.0), Line(0.0, 6.0, 4.0, 0.0), Line(4.0, 0.0, 4.0, 6.0)]),
        'O' => (4.2, &[Arc(2.1, 3.0, 2.1, 3.0, 0.0, 360.0)]),
        'P' => (
            3.5,
            &[
                Line(0.0, 0.0, 0.0, 6.0),
                Line(0.0, 6.0, 1.9, 6.0),
                Arc(1.9, 4.4, 1.6, 1.6, 90.0, -90.0),
                Line(1.9, 2.8, 0.0, 2.8),
            ],
        ),
        'Q' => (4.2, &[Arc(2.1, 3.0, 2.1, 3.0, 0.0, 360.0), Line(2.3, 1.5, 4.2, -0.7)]),
        'R' => (
            3.7,
            &[
                Line(0.0, 0.0, 0.0, 6.0),
                Line(0.0, 6.0, 1.9, 6.0),
                Arc(1.9, 4.4, 1.6, 1.6, 90.0, -90.0),
                Line(1.9, 2.8, 0.0, 2.8),
                Line(1.7, 2.8, 3.7, 0.0),
            ],
        ),
        'S' => (3.4, &[Arc(1.7, 4.5, 1.5, 1.5, 35.0, 270.0), Arc(1.7, 1.5, 1.6, 1.5, 90.0, -145.0)]),
        'T' => (3.8, &[Line(0.0, 6.0, 3.8, 6.0), Line(1.9, 6.0, 1.9, 0.0)]),
        'U' => (3.8, &[Line(0.0, 6.0, 0.0, 2.0), Arc(1.9, 2.0, 1.9, 2.0, 180.0, 360.0), Line(3.8, 2.0, 3.8, 6.0)]),
        'V' => (4.0, &[Line(0.0, 6.0, 2.0, 0.0), Line(2.0, 0.0, 4.0, 6.0)]),
        'W' => (
            5.6,
            &[Line(0.0, 6.0, 1.5, 0.0), Line(1.5, 0.0, 2.8, 5.0), Line(2.8, 5.0, 4.1, 0.0), Line(4.1, 0.0, 5.6, 6.0)],
        ),
        'X' => (3.8, &[Line(0.0, 0.0, 3.8, 6.0), Line(0.0, 6.0, 3.8, 0.0)]),
        'Y' => (3.8, &[Line(0.0, 6.0, 1.9, 2.8), Line(3.8, 6.0, 1.9, 2.8), Line(1.9, 2.8, 1.9, 0.0)]),
        'Z' => (3.4, &[Line(0.0, 6.0, 3.4, 6.0), Line(3.4, 6.0, 0.0, 0.0), Line(0.0, 0.0, 3.4, 0.0)]),
        '0' => (3.2, &[Arc(1.6, 3.0, 1.6, 3.0, 0.0, 360.0)]),
        '1' => (1.6, &[Line(0.2, 5.0, 1.0, 6.0), Line(1.0, 6.0, 1.0, 0.0)]),
        '2' => (3.3, &[Arc(1.6, 4.4, 1.5, 1.6, 165.0, -40.0), Line(2.75, 3.35, 0.0, 0.0), Line(0.0, 0.0, 3.3, 0.0)]),
        '3' => (3.2, &[Arc(1.5, 4.5, 1.4, 1.5, 145.0, -90.0), Arc(1.5, 1.5, 1.6, 1.5, 90.0, -145.0)]),
        '4' => (3.4, &[Line(2.4, 0.0, 2.4, 6.0), Line(2.4, 6.0, 0.0, 1.8), Line(0.0, 1.8, 3.4, 1.8)]),
        '5' => (3.2, &[Line(0.4, 6.0, 2.9, 6.0), Line(0.4, 6.0, 0.3, 3.3), Arc(1.5, 1.9, 1.6, 1.9, 135.0, -140.0)]),
        '6' => (3.2, &[Arc(1.6, 1.8, 1.5, 1.8, 0.0, 360.0), Line(0.2, 2.4, 2.2, 6.0)]),
        '7' => (3.2, &[Line(0.0, 6.0, 3.2, 6.0), Line(3.2, 6.0, 1.0, 0.0)]),
        '8' => (3.2, &[Arc(1.6, 4.5, 1.3, 1.5, 0.0, 360.0), Arc(1.6, 1.5, 1.6, 1.5, 0.0, 360.0)]),
        '9' => (3.2, &[Arc(1.6, 4.2, 1.5, 1.8, 0.0, 360.0), Line(3.0, 3.6, 1.0, 0.0)]),
        '.' => (0.5, &[Line(0.2, 0.15, 0.2, 0.25)]),
        ',' => (0.6, &[Line(0.4, 0.4, 0.0, -1.0)]),
        '-' => (1.8, &[Line(0.0, 2.6, 1.8, 2.6)]),
        '\'' => (0.4, &[Line(0.2, 6.0, 0.2, 4.6)]),
        '!' => (0.6, &[Line(0.3, 6.0, 0.3, 2.0), Line(0.3, 0.15, 0.3, 0.25)]),
        _ => (1.6, &[]),
    }
}

/// A stroke of ink from a point to another, with its width.
pub struct Stroke {
    pub from: Vec2,
    pub to: Vec2,
    pub width: f32,
}

/// Width of a line of type relative to its height, before it is stretched.
pub fn natural_width(text: &str) -> f32 {
    let sum: f32 = text.chars().map(|letter| glyph(letter).0 + GAP).sum();
    (sum - GAP) / CAPITAL
}

/// The strokes of a line of type from `origin`, the left end of its baseline, y downwards. `weight` is the width of thick strokes
/// relative to the height.
pub fn strokes(text: &str, origin: Vec2, height: f32, width: f32, weight: f32) -> Vec<Stroke> {
    let scale = Vec2::new(width / natural_width(text), -height) / CAPITAL;
    let mut strokes = Vec::new();
    let mut left = 0.0;
    for letter in text.chars() {
        let (advance, marks) = glyph(letter);
        let place = |x: f32, y: f32| origin + Vec2::new(left + x, y) * scale;
        for mark in marks {
            add_mark(&mut strokes, mark, place, weight * height);
        }
        left += advance + GAP;
    }
    strokes
}

fn add_mark(strokes: &mut Vec<Stroke>, mark: &Mark, place: impl Fn(f32, f32) -> Vec2, thick: f32) {
    match *mark {
        Line(x0, y0, x1, y1) => {
            strokes.push(pen(place(x0, y0), place(x1, y1), thick));
            let is_stem = (y1 - y0).abs() > 2.0 && (x1 - x0).abs() < 0.75 * (y1 - y0).abs();
            for (x, y) in [(x0, y0), (x1, y1)] {
                if is_stem && (y == 0.0 || y == CAPITAL) {
                    let serif = Vec2::new(thick * 0.85, 0.0);
                    strokes.push(pen(place(x, y) - serif, place(x, y) + serif, thick));
                }
            }
        }
        Arc(x, y, rx, ry, from, to) => {
            const STEPS: u32 = 20;
            let at = |step: u32| {
                let angle = (from + (to - from) * step as f32 / STEPS as f32) / 360.0 * TAU;
                place(x + rx * angle.cos(), y + ry * angle.sin())
            };
            strokes.extend((0..STEPS).map(|step| pen(at(step), at(step + 1), thick)));
        }
    }
}

/// A stroke of a broad pen: thick downwards, thin across.
fn pen(from: Vec2, to: Vec2, thick: f32) -> Stroke {
    let upright = (to - from).normalize_or(Vec2::Y).y.abs();
    Stroke { from, to, width: thick * (0.36 + 0.64 * upright) }
}
