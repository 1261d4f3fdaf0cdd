//! The points of a refined face, and the triangles between them.
//!
//! Rows of a face are numbered from the inside to the outside: points within it, points of each edge in the direction of the face, then its
//! corners. Faces of a Catmull-Clark cage consist of one square for each corner; the square of corner `c` has its first axis along the edge
//! after the corner, and its second axis along the edge before it. A triangle of Loop's scheme has both axes at its first corner.

use super::{Scheme, refine::Level};
use throng_scene::NONE;

/// Points of a face with a number of corners, at a level.
#[derive(Debug)]
pub struct Grid {
    scheme: Scheme,
    corners: u32,
    /// Segments along a side of a square, or of a triangle.
    segments: u32,
    /// Number of points within the face.
    pub inner: u32,
    /// Number of points within each edge.
    pub per_edge: u32,
    /// Triangles of rows, counter-clockwise.
    pub triangles: Vec<[u32; 3]>,
}

/// A point of a grid: square, and steps along its axes.
type Point = (u32, [u32; 2]);

impl Grid {
    /// The grid at a level of 1 or more.
    pub fn new(scheme: Scheme, corners: u32, level: u32) -> Self {
        let (segments, inner, per_edge) = match scheme {
            Scheme::CatmullClark => {
                let n = 1 << (level - 1);
                (n, 1 + corners * (n - 1) * n, 2 * n - 1)
            }
            Scheme::Loop => {
                let n = 1 << level;
                (n, (n - 1) * (n - 2) / 2, n - 1)
            }
        };
        let mut grid = Self { scheme, corners, segments, inner, per_edge, triangles: Vec::new() };
        grid.triangles = grid.all_triangles();
        grid
    }

    /// Number of triangles of a face.
    pub fn triangle_count(scheme: Scheme, corners: u64, level: u32) -> u64 {
        match scheme {
            Scheme::CatmullClark => corners * (2 << (2 * (level - 1))),
            Scheme::Loop => 1 << (2 * level),
        }
    }

    /// Number of points.
    pub fn len(&self) -> u32 {
        self.inner + self.corners * (self.per_edge + 1)
    }

    /// The first row of an edge.
    pub fn edge(&self, corner: u32) -> u32 {
        self.inner + corner * self.per_edge
    }

    /// The row of a corner.
    pub fn corner(&self, corner: u32) -> u32 {
        self.inner + self.corners * self.per_edge + corner
    }

    fn row(&self, point: Point) -> u32 {
        match self.scheme {
            Scheme::CatmullClark => self.row_of_quad(point),
            Scheme::Loop => self.row_of_triangle(point.1),
        }
    }

    fn row_of_quad(&self, (square, [i, j]): Point) -> u32 {
        let (n, count) = (self.segments, self.corners);
        let before = (square + count - 1) % count;
        match (i, j) {
            (0, 0) => self.corner(square),
            (_, 0) => self.edge(square) + i - 1,
            (0, _) => self.edge(before) + 2 * n - j - 1,
            _ if i == n && j == n => 0,
            _ if i == n => 1 + square * (n - 1) + j - 1,
            _ if j == n => 1 + before * (n - 1) + i - 1,
            _ => 1 + count * (n - 1) + square * (n - 1) * (n - 1) + (i - 1) * (n - 1) + j - 1,
        }
    }

    fn row_of_triangle(&self, [i, j]: [u32; 2]) -> u32 {
        let n = self.segments;
        match (i, j) {
            (0, 0) => self.corner(0),
            (i, 0) if i == n => self.corner(1),
            (0, j) if j == n => self.corner(2),
            (i, 0) => self.edge(0) + i - 1,
            (0, j) => self.edge(2) + n - j - 1,
            (i, j) if i + j == n => self.edge(1) + j - 1,
            // Row i has n - i - 1 points within the triangle.
            (i, j) => (i - 1) * (2 * n - 2 - i) / 2 + j - 1,
        }
    }

    fn all_triangles(&self) -> Vec<[u32; 3]> {
        let n = self.segments;
        let mut triangles = Vec::new();
        let squares = if self.scheme == Scheme::Loop { 1 } else { self.corners };
        for square in 0..squares {
            for i in 0..n {
                let end = if self.scheme == Scheme::Loop { n - i } else { n };
                for j in 0..end {
                    let row = |di, dj| self.row((square, [i + di, j + dj]));
                    match self.scheme {
                        Scheme::CatmullClark => {
                            triangles.push([row(0, 0), row(1, 0), row(1, 1)]);
                            triangles.push([row(0, 0), row(1, 1), row(0, 1)]);
                        }
                        Scheme::Loop => {
                            triangles.push([row(0, 0), row(1, 0), row(0, 1)]);
                            if j + 1 < end {
                                triangles.push([row(1, 0), row(1, 1), row(0, 1)]);
                            }
                        }
                    }
                }
            }
        }
        triangles
    }

    /// A corner of the last level at each row, given all levels of a patch from the cage on.
    pub fn corners_of_rows(&self, levels: &[Level]) -> Vec<u32> {
        let last = &levels[levels.len() - 1].topology;
        let mut found = vec![NONE; self.len() as usize];
        for (face, frame) in self.frames(levels).into_iter().enumerate() {
            for (corner, point) in (last.corners_of(face as u32)).zip(frame) {
                found[self.row(point) as usize] = corner;
            }
        }
        found
    }

    /// The points of the corners of all own faces of the last level.
    fn frames(&self, levels: &[Level]) -> Vec<Vec<Point>> {
        let n = self.segments;
        let mut frames: Vec<Vec<Point>> = match self.scheme {
            Scheme::CatmullClark => Vec::new(),
            Scheme::Loop => vec![[[0, 0], [n, 0], [0, n]].map(|at| (0, at)).to_vec()],
        };
        for pair in levels.windows(2) {
            let (before, after) = (&pair[0].topology, &pair[1]);
            let mut children = vec![Vec::new(); after.own as usize];
            let mut set = |child: u32, frame: Vec<Point>| {
                children.get_mut(child as usize).into_iter().for_each(|own| *own = frame.clone());
            };
            for face in 0..pair[0].own {
                let corners = before.corners_of(face);
                let count = (corners.end - corners.start) as usize;
                if frames.is_empty() {
                    for (square, corner) in (0..).zip(corners) {
                        let frame = [[0, 0], [n, 0], [n, n], [0, n]].map(|at| (square, at));
                        set(after.children[corner as usize], frame.to_vec());
                    }
                    continue;
                }
                let frame = &frames[face as usize];
                let middle = |a: usize, b: usize| {
                    let ((square, a), (_, b)) = (frame[a % count], frame[b % count]);
                    (square, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2])
                };
                for (i, corner) in corners.clone().enumerate() {
                    let (next, previous) = (middle(i, i + 1), middle(i + count - 1, i));
                    let child = match self.scheme {
                        Scheme::CatmullClark => vec![frame[i], next, middle(i, i + 2), previous],
                        Scheme::Loop => vec![frame[i], next, previous],
                    };
                    set(after.children[corner as usize], child);
                }
                if self.scheme == Scheme::Loop {
                    let child = after.children[before.corners.len() + face as usize];
                    set(child, (0..3).map(|i| middle(i, i + 1)).collect());
                }
            }
            frames = children;
        }
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_used_and_inner_points_are_within() {
        for (scheme, corners) in
            [(Scheme::CatmullClark, 3), (Scheme::CatmullClark, 4), (Scheme::CatmullClark, 7), (Scheme::Loop, 3)]
        {
            for level in 1..5 {
                let grid = Grid::new(scheme, corners, level);
                let mut uses = vec![0; grid.len() as usize];
                grid.triangles.as_flattened().iter().for_each(|&row| uses[row as usize] += 1);
                assert!(uses.iter().all(|&count| count > 0), "{scheme:?} {corners} {level}: {uses:?}");
                let count = Grid::triangle_count(scheme, u64::from(corners), level);
                assert_eq!(grid.triangles.len() as u64, count);
                // Euler's formula for a disc: vertices - edges + triangles = 1.
                let border = corners * (grid.per_edge + 1);
                let edges = (3 * count + u64::from(border)) / 2;
                assert_eq!(u64::from(grid.len()) + count, edges + 1, "{scheme:?} {corners} {level}");
            }
        }
    }
}
