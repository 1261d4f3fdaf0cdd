//! The rules of a scatter, which decide which points of a mesh are kept.

use super::sites::Site;
use crate::{land::distances::Within, ron::placing::random};
use glam::{Affine3, Mat3, Vec2, Vec3, Vec3Swizzles};
use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicUsize, Ordering},
};
use throng_scene::{Shape, TriangleMesh};

/// First dimension of the random numbers for rules.
const DIMENSION: u32 = 20;

/// One condition, with its name for messages.
pub struct Rule {
    pub name: String,
    pub test: Test,
}

/// The condition of a rule for a point.
pub enum Test {
    /// Range for the cosine of the angle between the normal and +Y.
    Slope(RangeInclusive<f32>),
    Height(RangeInclusive<f32>),
    /// A probability from a picture over the mesh.
    Mask(Mask),
    /// A probability from this channel of the vertex colours.
    Color(usize),
    AwayFrom(Within),
    Near(Within),
    Share(f32),
}

/// A picture of probabilities over a mesh.
pub struct Mask {
    pub columns: usize,
    /// Values, row by row from the top.
    pub values: Vec<f32>,
    /// The rectangle of the XZ plane that it covers if the mesh has no UVs.
    pub bounds: [Vec2; 2],
}

/// The prepared rules of a scatter.
pub struct Rules<'a> {
    rules: Vec<Rule>,
    shape: &'a Shape,
    /// Transform from the mesh's space to the space in which rules are measured.
    transform: Affine3,
    /// The corresponding transform for normals.
    normal_transform: Mat3,
    seed: u32,
    /// Greatest number of rules, in order, that any point has met before failing one.
    met: AtomicUsize,
}

impl<'a> Rules<'a> {
    pub fn new(rules: Vec<Rule>, shape: &'a Shape, transform: Affine3, seed: u32) -> Self {
        let normal_transform = transform.matrix3.inverse().transpose();
        Self { rules, shape, transform, normal_transform, seed, met: AtomicUsize::new(0) }
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a site meets all rules. `number` identifies the site.
    pub fn hold(&self, site: &Site, number: u32) -> bool {
        let position = self.transform.transform_point3(site.point);
        let broken = (0..).zip(&self.rules).find(|(i, rule)| !self.holds(&rule.test, site, position, [*i, number]));
        let met = broken.map_or(self.rules.len(), |(i, _)| i as usize);
        // Most sites do not increase the number, and reading is cheaper than writing.
        if met > self.met.load(Ordering::Relaxed) {
            self.met.fetch_max(met, Ordering::Relaxed);
        }
        met == self.rules.len()
    }

    /// The first rule that no point has met; none if a point met all rules.
    pub fn culprit(&self) -> Option<&str> {
        self.rules.get(self.met.load(Ordering::Relaxed)).map(|rule| rule.name.as_str())
    }

    fn holds(&self, test: &Test, site: &Site, position: Vec3, [rule, number]: [u32; 2]) -> bool {
        let chance = |probability: f32| random::unit(self.seed, DIMENSION + rule, number) < probability;
        match test {
            Test::Slope(cosines) => {
                let normal = (self.normal_transform * site.normal).normalize_or(Vec3::Y);
                cosines.contains(&normal.y.clamp(-1.0, 1.0))
            }
            Test::Height(range) => range.contains(&position.y),
            Test::Mask(mask) => chance(mask.at(self.uv(site), site.point)),
            Test::Color(channel) => chance(self.interpolated(site, |mesh| &mesh.colors).map_or(1.0, |c| c[*channel])),
            Test::AwayFrom(within) => !within.contains(position),
            Test::Near(within) => within.contains(position),
            Test::Share(share) => chance(*share),
        }
    }

    fn uv(&self, site: &Site) -> Option<Vec2> {
        self.interpolated(site, |mesh| &mesh.uvs).map(Vec2::from)
    }

    /// A vertex attribute at a site, if the mesh has it.
    fn interpolated<const N: usize>(
        &self,
        site: &Site,
        attribute: impl Fn(&TriangleMesh) -> &Vec<[f32; N]>,
    ) -> Option<[f32; N]> {
        let Shape::Triangles(mesh) = self.shape else {
            return None;
        };
        site.interpolated(mesh, attribute(mesh))
    }
}

impl Mask {
    /// The value at a UV, or else at the position of a point.
    fn at(&self, uv: Option<Vec2>, point: Vec3) -> f32 {
        let [min, max] = self.bounds;
        let share = match uv {
            Some(uv) => Vec2::new(uv.x, 1.0 - uv.y),
            None => (point.xz() - min) / (max - min),
        };
        let rows = self.values.len() / self.columns;
        let index = |share: f32, count: usize| {
            let inside = if (0.0..=1.0).contains(&share) { share } else { share.rem_euclid(1.0) };
            ((inside * count as f32) as usize).min(count - 1)
        };
        self.values[index(share.y, rows) * self.columns + index(share.x, self.columns)]
    }
}
