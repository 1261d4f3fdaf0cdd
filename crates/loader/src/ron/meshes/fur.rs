//! Hair and grass that grow on a mesh (`Fur`).

use super::{follow::MovingMesh, wind::Wind};
use crate::{
    LoadError,
    budget::{Budget, of_curves},
    meshes::MeshSource,
    model::MeshMotion,
    ron::{
        checked::Fields,
        file::Source,
        placing::random,
        scatter::{
            conditions,
            rules::{Rule, Rules},
            sites::{Site, Surface, on_surface},
        },
        source::Place,
    },
};
use glam::{Affine3, IVec3, Vec3};
use rayon::prelude::*;
use std::f32::consts::TAU;
use throng_base::math::{MortonGrid, hash_u32};
use throng_scene::{
    CurvePoint, CurveProfile, Curves, Shape, TriangleMesh,
    desc::{Fur, FurRules, StrandProfile},
};

/// Dimensions of the random numbers of a strand, after those of its site.
const LENGTH: u32 = 8;
const LEAN: u32 = 9;
const CURL: u32 = 12;

/// A checked entry.
pub struct Growth<'a> {
    pub length: f32,
    vary: f32,
    radius: f32,
    tip: f32,
    segments: usize,
    spread: f32,
    comb: Vec3,
    droop: f32,
    curl: f32,
    clump: f32,
    clump_size: f32,
    colors: Option<[Vec3; 2]>,
    pub seed: u32,
    /// The mesh, unless it is a sphere.
    mesh: Option<&'a TriangleMesh>,
}

/// Grows the strands of an entry on `mesh`. Also returns how they move: with the mesh, or in their wind.
///
/// # Errors
/// If a number is out of range, or if memory does not suffice.
pub fn grow(
    source: &Source,
    fur: &Fur,
    mesh: &MeshSource,
    budget: &Budget,
    place: &Place,
) -> Result<(Curves, MeshMotion), LoadError> {
    let fields = Fields { source, place };
    if matches!(mesh.mesh.shape, Shape::Curves(_)) {
        return fields.fail("on", "nothing grows on curves: use a mesh with a surface");
    }
    let moving = MovingMesh::of(mesh);
    if moving.is_some() && fur.wind.is_some() {
        return fields
            .fail("wind", "strands on a model that moves follow it and have no wind of their own: remove `wind`");
    }
    let rested = moving.as_ref().map(|moving| moving.at_rest(&mesh.mesh.name));
    let mesh = rested.as_ref().unwrap_or(mesh);
    let growth = checked(&fields, fur, mesh)?;
    let surface = Surface::placed(mesh, &Affine3::IDENTITY);
    let count = match (fur.count, fur.density) {
        (Some(_), Some(_)) => return fields.fail("density", "both `count` and `density`: remove one"),
        (None, None) => return Err(source.error(place, "write `count` or `density`")),
        (Some(count), None) => u64::from(count),
        (None, Some(density)) => (surface.area() * f64::from(fields.above_zero(density, "density")?)).round() as u64,
    };
    let points = count.saturating_mul(growth.segments as u64 + 1);
    let counted = if fur.count.is_some() { "count" } else { "density" };
    if count == 0 {
        return fields.fail(counted, "no strand grows: write a larger number");
    }
    let rules = rules(source, fur, mesh, &place.key("where"))?;
    if points >= u64::from(u32::MAX) {
        return fields.fail(
            counted,
            format!("{count} strands have more than 4 billion points: use instances of a smaller patch"),
        );
    }
    fields.check(counted, budget.take_asked(of_curves(points as usize)))?;
    let mut sites = on_surface(&surface, count as u32, fur.seed, 1);
    if !rules.is_empty() {
        sites = sites.into_par_iter().filter(|(number, site)| rules.hold(site, *number)).collect();
    }
    if let Some(rule) = rules.culprit().filter(|_| sites.is_empty()) {
        let message = format!("no strand on `{}` is left by {rule}: loosen this rule", fur.on);
        return fields.fail("where", message);
    }
    // In an order in which neighbours are close: rays then read adjacent points.
    let grid = MortonGrid::over(sites.iter().map(|(_, site)| site.point));
    sites.par_sort_unstable_by_key(|(number, site)| (grid.code(site.point), *number));
    if let Some(moving) = &moving {
        moving.sort(&mut sites);
    }
    let count = sites.len();
    let wind = fur.wind.as_ref().map(|wind| Wind::new(source, wind, &growth, &place.key("wind"))).transpose()?;
    let strands: Vec<Vec<CurvePoint>> = sites.par_iter().map(|(number, site)| growth.strand(*number, site)).collect();
    let per_strand = growth.segments + 1;
    let each = |of: &dyn Fn(&Site, f32) -> [f32; 4]| -> Vec<[f32; 4]> {
        let along = |step: usize| step as f32 / growth.segments as f32;
        sites
            .iter()
            .flat_map(|(_, site)| (0..per_strand).map(move |step| (site, along(step))))
            .map(|(s, t)| of(s, t))
            .collect()
    };
    let own_colors = growth.mesh.is_some_and(|mesh| !mesh.colors.is_empty());
    let own_uvs = growth.mesh.is_some_and(|mesh| !mesh.uvs.is_empty());
    let colors =
        if growth.colors.is_some() || own_colors { each(&|site, at| growth.color(site, at)) } else { Vec::new() };
    let uvs = if own_uvs { each(&|site, _| growth.uv(site)) } else { Vec::new() };
    let mut points = strands.concat();
    let motion = match (moving, wind) {
        (Some(moving), _) => moving.follow(&sites, per_strand, &mut points),
        (None, Some(wind)) => wind.sway(&sites, per_strand, &mut points),
        (None, None) => MeshMotion::Still,
    };
    let curves = Curves {
        points,
        strands: (0..count as u32).map(|strand| strand * per_strand as u32).collect(),
        profile: match fur.profile {
            StrandProfile::Round => CurveProfile::Round,
            StrandProfile::Ribbon => CurveProfile::Ribbon,
        },
        uvs: uvs.into_iter().map(|[u, v, ..]| [u, v]).collect(),
        colors,
    };
    Ok((curves, motion))
}

/// The rules for roots.
fn rules<'a>(source: &Source, fur: &Fur, mesh: &'a MeshSource, place: &Place) -> Result<Rules<'a>, LoadError> {
    let FurRules { slope, height, mask, vertex_color } = &fur.rules;
    let mut rules = Vec::new();
    let mut add = |name: &str, test| rules.push(Rule { name: format!("`{name}`"), test });
    if let Some(range) = *slope {
        add("slope", conditions::slope(source, range, &place.key("slope"))?);
    }
    if let Some(range) = *height {
        add("height", conditions::height(source, range, &place.key("height"))?);
    }
    if let Some(file) = mask {
        add("mask", conditions::mask(source, file, mesh, &place.key("mask"))?);
    }
    if let Some(channel) = *vertex_color {
        add("vertex_color", conditions::vertex_color(source, channel, mesh, &place.key("vertex_color"))?);
    }
    Ok(Rules::new(rules, &mesh.mesh.shape, Affine3::IDENTITY, fur.seed))
}

fn checked<'a>(fields: &Fields, fur: &Fur, mesh: &'a MeshSource) -> Result<Growth<'a>, LoadError> {
    let length = fields.above_zero(fur.length, "length")?;
    Ok(Growth {
        length,
        vary: fields.within(fur.vary, "vary", (0.0, 1.0))?,
        radius: 0.5 * fields.above_zero(fur.width, "width")?,
        tip: fields.within(fur.tip, "tip", (0.0, 1.0))?,
        segments: fields.whole(fur.segments, "segments", 1..=64)? as usize,
        spread: fields.within(fur.spread, "spread", (0.0, 90.0))?.to_radians(),
        comb: fur.comb.0,
        droop: fields.not_negative(fur.droop, "droop")?,
        curl: fields.not_negative(fur.curl, "curl")?,
        clump: fields.within(fur.clump, "clump", (0.0, 1.0))?,
        clump_size: fur.clump_size.map_or(Ok(length), |size| fields.above_zero(size, "clump_size"))?,
        colors: fur.colors.map(|(root, tip)| [root.0, tip.0]),
        seed: fur.seed,
        mesh: mesh.mesh.triangles(),
    })
}

impl Growth<'_> {
    /// The points of a strand. Its steps have equal lengths.
    fn strand(&self, number: u32, site: &Site) -> Vec<CurvePoint> {
        let random = |dimension| random::signed(self.seed, dimension, number);
        let length = self.length * (1.0 - self.vary * random::unit(self.seed, LENGTH, number));
        let lean = random::direction(random::unit(self.seed, LEAN, number), random::unit(self.seed, LEAN + 1, number));
        let aside = lean.reject_from_normalized(site.normal).normalize_or_zero();
        let angle = self.spread * random::unit(self.seed, LEAN + 2, number).sqrt();
        let root = site.normal * angle.cos() + aside * angle.sin();
        let curl = Vec3::new(random(CURL), random(CURL + 1), random(CURL + 2)) * self.curl;
        let phase = TAU * random::unit(self.seed, CURL + 3, number);
        let pull = self.comb + Vec3::NEG_Y * self.droop + curl;
        let to_clump = self.to_clump(site) * self.clump;
        let step = length / self.segments as f32;
        let (mut at, mut points) = (site.point, Vec::with_capacity(self.segments + 1));
        for number in 0..=self.segments {
            let share = number as f32 / self.segments as f32;
            let radius = self.radius * (1.0 + (self.tip - 1.0) * share);
            points.push(CurvePoint { position: (at + to_clump * (share * share)).into(), radius });
            let middle = share + 0.5 / self.segments as f32;
            let wave = aside.cross(site.normal) * (self.curl * (phase + 5.0 * middle).sin() * middle);
            at += (root + pull * (2.0 * middle) + wave).normalize_or(site.normal) * step;
        }
        points
    }

    /// From a root to the middle of its clump, along the surface: the closest of the points that each cell of a grid has one of (Worley 1996).
    fn to_clump(&self, site: &Site) -> Vec3 {
        if self.clump == 0.0 {
            return Vec3::ZERO;
        }
        let at = site.point / self.clump_size;
        let cell = at.floor().as_ivec3();
        let middle_of = |cell: IVec3| {
            let [x, y, z] = cell.to_array().map(|i| i as u32);
            let hash = hash_u32(x ^ hash_u32(y ^ hash_u32(z)));
            cell.as_vec3() + random::unit3(self.seed, 0, hash)
        };
        let around = (0..27).map(|i| cell + IVec3::new(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1));
        let offsets = around.map(|cell| (middle_of(cell) - at).reject_from_normalized(site.normal));
        let nearest = offsets.min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
        nearest.unwrap_or(Vec3::ZERO) * self.clump_size
    }

    fn color(&self, site: &Site, share: f32) -> [f32; 4] {
        let own = self.interpolated(site, |mesh| &mesh.colors).unwrap_or([1.0; 4]);
        let [root, tip] = self.colors.unwrap_or([Vec3::ONE; 2]);
        let tint = root.lerp(tip, share);
        [own[0] * tint.x, own[1] * tint.y, own[2] * tint.z, own[3]]
    }

    fn uv(&self, site: &Site) -> [f32; 4] {
        let [u, v] = self.interpolated(site, |mesh| &mesh.uvs).unwrap_or_default();
        [u, v, 0.0, 0.0]
    }

    /// A vertex attribute at a root, if the mesh has it.
    fn interpolated<const N: usize>(
        &self,
        site: &Site,
        attribute: impl Fn(&TriangleMesh) -> &Vec<[f32; N]>,
    ) -> Option<[f32; N]> {
        let mesh = self.mesh?;
        site.interpolated(mesh, attribute(mesh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;
    use throng_scene::NONE;

    fn growth(mesh: &MeshSource) -> Growth<'_> {
        Growth {
            length: 2.0,
            vary: 0.5,
            radius: 0.1,
            tip: 0.0,
            segments: 8,
            spread: 0.4,
            comb: Vec3::X,
            droop: 0.5,
            curl: 0.3,
            clump: 0.0,
            clump_size: 0.25,
            colors: None,
            seed: 4,
            mesh: mesh.mesh.triangles(),
        }
    }

    fn site(x: f32) -> Site {
        Site { point: Vec3::new(x, 0.0, 0.1), normal: Vec3::Y, triangle: NONE, weights: [0.0; 3] }
    }

    #[test]
    fn strands_have_their_length_and_become_thinner() {
        let quad = MeshSource::of_shape("quad", shapes::quad(1.0), 0);
        for number in 0..50 {
            let strand = growth(&quad).strand(number, &site(0.0));
            let length: f32 = strand.windows(2).map(|p| Vec3::from(p[0].position).distance(p[1].position.into())).sum();
            assert!((1.0..=2.0001).contains(&length), "{length}");
            assert!(strand.is_sorted_by(|a, b| a.radius > b.radius) && strand[8].radius == 0.0);
            assert!(strand[8].position[0] > 0.2, "combed to +X: {:?}", strand[8]);
        }
    }

    #[test]
    fn tips_of_a_clump_meet() {
        let quad = MeshSource::of_shape("quad", shapes::quad(1.0), 0);
        let tips = |clump: f32| {
            let growth = Growth { clump, spread: 0.0, curl: 0.0, vary: 0.0, ..growth(&quad) };
            let tip = |i: u32| growth.strand(i, &site(0.01 * i as f32)).last().map_or(0.0, |p| p.position[0]);
            let mut tips: Vec<f32> = (0..100).map(tip).collect();
            tips.dedup_by(|a, b| (*a - *b).abs() < 1e-4);
            tips.len()
        };
        assert_eq!(tips(0.0), 100);
        assert!(tips(1.0) < 15, "{}", tips(1.0));
    }
}
