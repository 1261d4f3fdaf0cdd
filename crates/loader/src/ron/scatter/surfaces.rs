//! Points of scattered copies on meshes.

use super::{
    conditions, poisson,
    rules::{Rule, Rules, Test},
    sites::{self, Site, Surface},
};
use crate::{
    LoadError,
    land::distances::Outlines,
    meshes::MeshSource,
    ron::{
        checked::{Fields, above_zero},
        placing::{
            patterns::{Scatter, affine_of},
            placements::Resolver,
            resolved::Item,
        },
        source::Place,
    },
    suggest,
};
use glam::Affine3;
use std::collections::HashMap;
use throng_scene::{
    Shape,
    desc::{self, Align, Sample},
};

impl<'a> Resolver<'a> {
    /// The points of a scatter. `whole` is the transform to the space of its list; `above` are the earlier items there.
    ///
    /// # Errors
    /// If a name is unknown, if a number is out of range, or if no point meets the rules.
    pub fn scatter(
        &mut self,
        p: &desc::Scatter,
        whole: &Affine3,
        above: &[Item],
        place: &Place,
    ) -> Result<Scatter, LoadError> {
        if p.every == 0 {
            return Err(self.fail(&place.key("every"), "`every` must be at least 1"));
        }
        self.check_jitter(&p.jitter, place)?;
        let mesh = self.mesh(&p.on, &place.key("on"))?;
        let transform = *whole * Affine3::from_scale(p.spread.0);
        let rules = self.rules(p, mesh, transform, above, &place.key("where"))?;
        let sites = self.sites(p, mesh, (&transform, &rules), &place.key("at"))?;
        if let Some(rule) = rules.culprit().filter(|_| sites.is_empty()) {
            let message = format!("no point of `{}` is left by {rule}: loosen this rule", p.on);
            return Err(self.fail(&place.key("where"), message));
        }
        self.check_count(sites.len() as u64, &place.key("at"))?;
        self.points += sites.len() as u64;
        self.check_count(self.points, &place.key("at"))?;
        let points = sites.iter().map(|site| (site.point, site.normal)).collect();
        let (align, each) = (p.align == Align::Normal, affine_of(&p.each));
        Ok(Scatter { points, spread: p.spread.0, align, lift: p.lift.0, each, jitter: p.jitter })
    }

    fn mesh(&self, name: &str, place: &Place) -> Result<&'a MeshSource, LoadError> {
        self.file.meshes.index(name).map(|i| &self.meshes[i]).ok_or_else(|| {
            let hint = suggest::hint(name, self.file.meshes.names(), "meshes");
            self.fail(place, format!("unknown mesh `{name}`: {hint}"))
        })
    }

    /// The points that meet the rules.
    fn sites(
        &self,
        p: &desc::Scatter,
        mesh: &MeshSource,
        (transform, rules): (&Affine3, &Rules),
        place: &Place,
    ) -> Result<Vec<Site>, LoadError> {
        let kept = |(i, site): (u32, Site)| (rules.is_empty() || rules.hold(&site, i)).then_some(site);
        if matches!(mesh.mesh.shape, Shape::Curves(_)) {
            return Err(self.fail(place, "curves have no surface to scatter on: use the mesh on which they grow"));
        }
        Ok(match p.at {
            Sample::Vertices if mesh.points().0.is_empty() => {
                return Err(self.fail(place, "a sphere has no vertices: use surface(count: ..)"));
            }
            Sample::Vertices => (0..).zip(sites::vertices(mesh, p.every)).filter_map(kept).collect(),
            Sample::Surface(s) => {
                let (surface, count) = self.surface(s, mesh, transform, place)?;
                sites::on_surface(&surface, count, s.seed, p.every).into_iter().filter_map(kept).collect()
            }
            Sample::Poisson(s) => {
                let distance = Fields { source: self.source, place }.above_zero(s.distance, "distance")?;
                let surface = Surface::placed(mesh, transform);
                let darts = poisson::darts(&surface, distance);
                self.check_count(self.points.saturating_add(darts), &place.key("distance"))?;
                let kept = |site: &Site, i| rules.hold(site, i);
                let all = poisson::sample(&surface, transform, (distance, s.seed), kept);
                all.into_iter().step_by(p.every as usize).collect()
            }
        })
    }

    /// The surface of a mesh, and the number of points on it.
    fn surface<'m>(
        &self,
        s: desc::Surface,
        mesh: &'m MeshSource,
        transform: &Affine3,
        place: &Place,
    ) -> Result<(Surface<'m>, u32), LoadError> {
        let (surface, count) = match (s.count, s.density) {
            (Some(_), Some(_)) => {
                return Err(self.fail(&place.key("density"), "both `count` and `density`: remove one"));
            }
            (None, None) => return Err(self.fail(place, "write `count` or `density`")),
            (Some(count), None) => (None, u64::from(count)),
            (None, Some(density)) => {
                let density = Fields { source: self.source, place }.above_zero(density, "density")?;
                let surface = Surface::placed(mesh, transform);
                let count = (surface.area() * f64::from(density)).round() as u64;
                (Some(surface), count)
            }
        };
        let counted = if s.count.is_some() { "count" } else { "density" };
        self.check_count(self.points.saturating_add(count), &place.key(counted))?;
        Ok((surface.unwrap_or_else(|| Surface::new(mesh)), count as u32))
    }

    fn rules<'m>(
        &self,
        p: &desc::Scatter,
        mesh: &'m MeshSource,
        transform: Affine3,
        above: &[Item],
        place: &Place,
    ) -> Result<Rules<'m>, LoadError> {
        let desc = &p.rules;
        let mut rules = Vec::new();
        let mut add = |name: &str, test| rules.push(Rule { name: name.to_owned(), test });
        if let Some(range) = desc.slope {
            add("`slope`", conditions::slope(self.source, range, &place.key("slope"))?);
        }
        if let Some(range) = desc.height {
            add("`height`", conditions::height(self.source, range, &place.key("height"))?);
        }
        if let Some(share) = desc.share {
            add("`share`", conditions::share(self.source, share, &place.key("share"))?);
        }
        if let Some(file) = &desc.mask {
            let place = place.key("mask");
            self.check_surface(p.at, "`mask`", &place)?;
            add("`mask`", conditions::mask(self.source, file, mesh, &place)?);
        }
        if let Some(channel) = desc.vertex_color {
            let place = place.key("vertex_color");
            self.check_surface(p.at, "`vertex_color`", &place)?;
            add("`vertex_color`", conditions::vertex_color(self.source, channel, mesh, &place)?);
        }
        for (name, is_near) in [("away_from", false), ("near", true)] {
            let place = place.key(name);
            let entries = if is_near { &desc.near } else { &desc.away_from };
            for (i, (thing, distance)) in entries.iter().enumerate() {
                let place = place.index(i);
                let distance = self.source.check(&place.index(1), above_zero(distance.0, "the distance"));
                let within = self.outlines(thing, above, &place.index(0))?.within(distance?);
                let test = if is_near { Test::Near(within) } else { Test::AwayFrom(within) };
                add(&format!("`{name}` of `{thing}`"), test);
            }
        }
        let seed = match p.at {
            Sample::Vertices => 0,
            Sample::Surface(s) => s.seed,
            Sample::Poisson(s) => s.seed,
        };
        Ok(Rules::new(rules, &mesh.mesh.shape, transform, seed))
    }

    /// Checks that a rule does not require data that vertices of files lack.
    fn check_surface(&self, at: Sample, rule: &str, place: &Place) -> Result<(), LoadError> {
        match at {
            Sample::Vertices => {
                let message = format!("{rule} needs points between vertices: use surface(..) or poisson(..)");
                Err(self.fail(place, message))
            }
            _ => Ok(()),
        }
    }

    /// A curve, or else the copies of a mesh or group that earlier placements create, as seen from above.
    fn outlines(&self, name: &str, above: &[Item], place: &Place) -> Result<Outlines, LoadError> {
        let mut outlines = Outlines::default();
        let curve = self.curves.find(name);
        let is_placed = self.file.meshes.index(name).or(self.file.groups.index(name)).is_some();
        match curve {
            Some(_) if is_placed => {
                let message = format!("`{name}` is both a curve and a mesh or group: rename one of them");
                return Err(self.fail(place, message));
            }
            Some(curve) => outlines.add_line(&curve.flattened(curve.length() * 1e-4)),
            None if !is_placed => {
                let names = self.curves.names().chain(self.file.meshes.names()).chain(self.file.groups.names());
                let hint = suggest::hint(name, names, "curves, meshes and groups");
                return Err(self.fail(place, format!("unknown curve, mesh or group `{name}`: {hint}")));
            }
            None => {
                let mut known = HashMap::new();
                for (mesh, transform) in self.placed(name, above, place)? {
                    let bounds = known.entry(mesh).or_insert_with(|| self.meshes[mesh].mesh.bounds());
                    outlines.add_box([bounds.min, bounds.max], &transform);
                }
            }
        }
        Ok(outlines)
    }
}
