//! Faces of files that store polygons as fans of triangles.

use std::ops::Range;
use throng_scene::desc::SubdivisionScheme;

/// Polygons.
pub struct Faces<C> {
    pub sizes: Vec<u32>,
    pub corners: Vec<C>,
    /// The first triangle of each face.
    pub triangles: Vec<u32>,
}

impl<C: Copy> Faces<C> {
    /// As [`Self::of`], for a scheme. Loop's scheme divides triangles only.
    pub fn for_scheme(
        scheme: SubdivisionScheme,
        triangles: &[[C; 3]],
        fans: &[Range<u32>],
        point: impl Fn(C) -> u32,
    ) -> Self {
        let fans = if scheme == SubdivisionScheme::Loop { &[][..] } else { fans };
        Self::of(triangles, fans, point)
    }

    /// The faces of triangles, of which some ranges are fans. Corners at the point of the corner before them are left out, and so are faces
    /// with fewer than three others.
    pub fn of(triangles: &[[C; 3]], fans: &[Range<u32>], point: impl Fn(C) -> u32) -> Self {
        let mut faces = Self { sizes: Vec::new(), corners: Vec::new(), triangles: Vec::new() };
        let mut next = 0;
        for fan in fans {
            (next..fan.start).for_each(|triangle| faces.add(triangle, &triangles[triangle as usize], &point));
            let parts = &triangles[fan.start as usize..fan.end as usize];
            let corners: Vec<C> = parts[0][..2].iter().copied().chain(parts.iter().map(|part| part[2])).collect();
            faces.add(fan.start, &corners, &point);
            next = fan.end;
        }
        (next..triangles.len() as u32).for_each(|triangle| faces.add(triangle, &triangles[triangle as usize], &point));
        faces
    }

    fn add(&mut self, triangle: u32, corners: &[C], point: &impl Fn(C) -> u32) {
        let start = self.corners.len();
        for (index, &corner) in corners.iter().enumerate() {
            let before = corners[(index + corners.len() - 1) % corners.len()];
            if point(before) != point(corner) {
                self.corners.push(corner);
            }
        }
        match self.corners.len() - start {
            count @ 3.. => {
                self.sizes.push(count as u32);
                self.triangles.push(triangle);
            }
            _ => self.corners.truncate(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fans_become_polygons_again_without_repeated_points() {
        let triangles = [[0, 1, 2], [3, 4, 5], [3, 5, 6], [3, 6, 6], [7, 7, 8]];
        let faces = Faces::of(&triangles, std::slice::from_ref(&(1..4)), |corner| corner);
        assert_eq!((&faces.sizes[..], &faces.triangles[..]), (&[3, 4][..], &[0, 1][..]));
        assert_eq!(faces.corners, [0, 1, 2, 3, 4, 5, 6]);
    }
}
