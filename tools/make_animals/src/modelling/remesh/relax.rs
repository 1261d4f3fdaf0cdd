//! Moving vertices over the surface.

use super::{Surface, edit_mesh::EditMesh};
use glam::{Mat3, Vec3};
use rayon::prelude::*;

impl EditMesh {
    /// Moves every vertex towards the centre of its neighbours and back onto the surface.
    pub fn relax(&mut self, surface: &dyn Surface) {
        let targets: Vec<Vec3> =
            (0..self.points.len() as u32).into_par_iter().map(|vertex| self.relaxed(vertex, surface)).collect();
        for (vertex, target) in targets.into_iter().enumerate() {
            let vertex = vertex as u32;
            if target != self.point(vertex)
                && !self.crowds(vertex, target)
                && self.stays_unfolded(vertex, u32::MAX, target)
            {
                self.points[vertex as usize] = target;
            }
        }
    }

    /// Whether moving a vertex brings it too close to a neighbour and closer than before.
    fn crowds(&self, vertex: u32, target: Vec3) -> bool {
        const LEAST_SHARE: f32 = 0.4;
        let here = self.point(vertex);
        let least = LEAST_SHARE * self.wanted[vertex as usize];
        self.around[vertex as usize]
            .iter()
            .flat_map(|&triangle| self.corners(triangle))
            .filter(|&corner| corner != vertex)
            .map(|corner| self.point(corner))
            .any(|other| target.distance(other) < least.min(here.distance(other)))
    }

    /// The relaxed position of a vertex. Steps are damped along directions in which the normals around it vary, so that vertices slide
    /// along creases and stay on tips.
    fn relaxed(&self, vertex: u32, surface: &dyn Surface) -> Vec3 {
        const STIFFNESS: f32 = 40.0;
        const STEP: f32 = 0.6;
        let here = self.point(vertex);
        let mut centre = Vec3::ZERO;
        let mut weight = 0.0;
        let mut normals = Mat3::ZERO;
        let mut area = 0.0;
        let mut facing = Vec3::ZERO;
        for &triangle in &self.around[vertex as usize] {
            let corners = self.corners(triangle);
            let normal = self.area_normal(corners);
            let size = normal.length();
            facing += normal;
            if size > 0.0 {
                normals += outer(normal) * (1.0 / size);
                area += size;
            }
            let [a, b, c] = corners.map(|corner| self.point(corner));
            let middle = (a + b + c) / 3.0;
            let wanted = corners.iter().map(|&c| self.wanted[c as usize]).sum::<f32>() / 3.0;
            let share = size / (wanted * wanted);
            centre += middle * share;
            weight += share;
        }
        if weight <= 0.0 || area <= 0.0 {
            return here;
        }
        let pull = (centre / weight - here) * STEP;
        let damping = Mat3::IDENTITY + normals * (STIFFNESS / area);
        let step = damping.inverse() * pull;
        let limit = self.wanted[vertex as usize] * 0.5;
        let target = surface.project(here + step.clamp_length_max(limit), facing);
        if target.distance(here) > limit * 1.5 { here } else { target }
    }
}

fn outer(v: Vec3) -> Mat3 {
    Mat3::from_cols(v * v.x, v * v.y, v * v.z)
}
