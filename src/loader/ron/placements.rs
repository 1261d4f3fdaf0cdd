//! `instances` and `groups` with every name looked up and every number checked, each entry once.

use super::{
    file::Source,
    patterns::{Pattern, RandomBox, Scatter, affine_of},
    scatter,
    source::Place,
};
use crate::loader::{LoadError, budget, files, meshes::MeshSource, suggest};
use crate::scene::{
    NONE,
    desc::{self, Align, Choose, Common, Each, Jitter, MotionDesc, Of, PartDesc, Placement, Sample, SceneFile},
};
use glam::{Affine3, UVec3, Vec3};
use std::collections::HashMap;

/// Greatest number of instances.
pub const MAX_INSTANCES: u64 = 1 << 31;

/// The mesh or list that a placement places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Index into the file's meshes.
    Mesh(usize),
    /// Index into [`Resolved::lists`].
    List(usize),
}

/// A placement ready to be repeated.
pub struct Item {
    pub target: Target,
    /// Transform from the placement's space to its parent's.
    pub whole: Affine3,
    pub pattern: Pattern,
    /// Material rows to choose from; if empty, the surroundings or the mesh decide.
    pub materials: Vec<u32>,
    pub choose: Choose,
    /// Index into the file's motions or [`NONE`].
    pub motion: u32,
}

/// All lists of placements: the named groups first, in file order, then those written in place.
pub struct Resolved {
    pub lists: Vec<Vec<Item>>,
    pub top: Vec<Item>,
}

/// Looks up names and checks numbers.
pub struct Resolver<'a> {
    pub source: &'a Source,
    pub file: &'a SceneFile,
    pub meshes: &'a [MeshSource],
    targets: HashMap<&'a str, Target>,
    materials: HashMap<&'a str, u32>,
    motions: HashMap<&'a str, u32>,
    lists: Vec<Vec<Item>>,
    /// Number of points of all scatters so far.
    points: u64,
}

impl<'a> Resolver<'a> {
    /// `material_rows` holds the table row of each of the file's materials.
    pub fn new(source: &'a Source, file: &'a SceneFile, meshes: &'a [MeshSource], material_rows: &[u32]) -> Self {
        let groups = file.groups.names().enumerate().map(|(i, n)| (n, Target::List(i)));
        let named_meshes = file.meshes.names().enumerate().map(|(i, n)| (n, Target::Mesh(i)));
        Self {
            source,
            file,
            meshes,
            targets: groups.chain(named_meshes).collect(),
            materials: file.materials.names().zip(material_rows.iter().copied()).collect(),
            motions: file.motions.names().zip(0..).collect(),
            lists: Vec::new(),
            points: 0,
        }
    }

    /// Resolves the whole file.
    ///
    /// # Errors
    /// The first thing in it that is unknown or out of range.
    pub fn resolve(mut self) -> Result<Resolved, LoadError> {
        let file = self.file;
        let (groups, instances) = (Place::ROOT.key("groups"), Place::ROOT.key("instances"));
        self.check_group_names(&groups)?;
        self.lists.resize_with(file.groups.0.len(), Vec::new);
        for (i, (name, list)) in file.groups.0.iter().enumerate() {
            self.lists[i] = self.list(list, &groups.key(name))?;
        }
        let top = self.list(&file.instances, &instances)?;
        Ok(Resolved { lists: self.lists, top })
    }

    fn fail(&self, place: &Place, message: impl AsRef<str>) -> LoadError {
        self.source.error(place, message)
    }

    fn check_group_names(&self, groups: &Place) -> Result<(), LoadError> {
        match self.file.groups.names().find(|n| self.file.meshes.index(n).is_some()) {
            Some(name) => Err(self.fail(&groups.key(name), format!("`{name}` is also a mesh: rename one of them"))),
            None => Ok(()),
        }
    }

    fn list(&mut self, list: &'a [Placement], place: &Place) -> Result<Vec<Item>, LoadError> {
        if list.is_empty() {
            return Err(self.fail(place, "the list is empty: place at least one thing"));
        }
        list.iter().enumerate().map(|(i, p)| self.item(p, &place.index(i))).collect()
    }

    fn item(&mut self, placement: &'a Placement, place: &Place) -> Result<Item, LoadError> {
        let common = placement.common();
        let pattern = match placement {
            Placement::Single(_) | Placement::Group(_) => Pattern::Single,
            Placement::Grid(p) => self.grid(p, place)?,
            Placement::Scatter(p) => self.scatter(p, place)?,
            Placement::Random(p) => self.random(p, place)?,
        };
        let each = Each { translate: common.translate, rotate: common.rotate, scale: common.scale };
        let target = self.target(common.of, place)?;
        self.check_clip(&common, target, place)?;
        Ok(Item {
            target,
            whole: affine_of(&each),
            pattern,
            materials: self.materials(&common, place)?,
            choose: common.choose,
            motion: self.motion(&common, place)?,
        })
    }

    fn target(&mut self, of: &'a Of, place: &Place) -> Result<Target, LoadError> {
        match of {
            Of::Name(name) => self.targets.get(name.as_str()).copied().ok_or_else(|| {
                let known = self.file.meshes.names().chain(self.file.groups.names());
                let hint = suggest::hint(name, known, "meshes and groups");
                self.fail(&place.key("of"), format!("unknown mesh or group `{name}`: {hint}"))
            }),
            Of::List(list) => {
                let items = self.list(list, &place.key("of"))?;
                self.lists.push(items);
                Ok(Target::List(self.lists.len() - 1))
            }
        }
    }

    fn materials(&self, common: &Common, place: &Place) -> Result<Vec<u32>, LoadError> {
        if common.material.is_some() && !common.materials.is_empty() {
            return Err(self.fail(&place.key("materials"), "both `material` and `materials`: remove one"));
        }
        let several = place.key("materials");
        let one = common.material.map(|m| self.material(m, &place.key("material")));
        let all = common.materials.iter().enumerate().map(|(i, m)| self.material(m, &several.index(i)));
        one.into_iter().chain(all).collect()
    }

    fn material(&self, name: &str, place: &Place) -> Result<u32, LoadError> {
        self.materials.get(name).copied().ok_or_else(|| unknown_material(self.source, self.file, name, place))
    }

    fn motion(&self, common: &Common, place: &Place) -> Result<u32, LoadError> {
        let Some(name) = common.motion else {
            return Ok(NONE);
        };
        self.motions.get(name).copied().ok_or_else(|| {
            let hint = suggest::hint(name, self.file.motions.names(), "motions");
            self.fail(&place.key("motion"), format!("unknown motion `{name}`: {hint}"))
        })
    }

    /// Refuses a motion that plays a clip where there is none.
    fn check_clip(&self, common: &Common, target: Target, place: &Place) -> Result<(), LoadError> {
        let Some((_, motion)) = common.motion.and_then(|name| {
            let named = |(own, _): &&(String, MotionDesc)| own == name;
            self.file.motions.0.iter().find(named)
        }) else {
            return Ok(());
        };
        let is_clip = |part: &PartDesc| matches!(part, PartDesc::Clip(_));
        let message = match target {
            _ if !motion.parts.iter().any(is_clip) => return Ok(()),
            Target::Mesh(mesh) if self.meshes[mesh].motion.poses().is_some() => return Ok(()),
            Target::Mesh(_) => "the motion plays a clip, and the mesh has no palette of poses: give it `clip`",
            Target::List(_) => {
                "the motion plays a clip, which moves a model and not a group: give the motion to \
                 the placement of the model"
            }
        };
        Err(self.fail(&place.key("motion"), message))
    }

    fn grid(&self, p: &desc::Grid, place: &Place) -> Result<Pattern, LoadError> {
        let count = UVec3::new(p.count.0, p.count.1, p.count.2);
        let pattern = Pattern::Grid { count, spacing: p.spacing.0, each: affine_of(&p.each), jitter: p.jitter };
        self.check_count(pattern.count(), &place.key("count"))?;
        self.check_jitter(&p.jitter, place)?;
        Ok(pattern)
    }

    fn random(&self, p: &desc::Random, place: &Place) -> Result<Pattern, LoadError> {
        self.check_count(p.count.into(), &place.key("count"))?;
        let sizes = (p.sizes.0.0, p.sizes.1.0);
        if sizes.0 <= 0.0 || sizes.1 < sizes.0 {
            return Err(self.fail(&place.key("sizes"), "sizes must be above 0, the least first"));
        }
        let (min, max) = (p.min.0, p.max.0);
        if !min.cmple(max).all() {
            return Err(self.fail(&place.key("min"), "`min` exceeds `max`: swap them"));
        }
        Ok(Pattern::Random(RandomBox {
            count: p.count,
            seed: p.seed,
            min,
            max,
            sizes,
            turn: p.turn,
            each: affine_of(&p.each),
        }))
    }

    fn scatter(&mut self, p: &desc::Scatter, place: &Place) -> Result<Pattern, LoadError> {
        if p.every == 0 {
            return Err(self.fail(&place.key("every"), "`every` must be at least 1"));
        }
        self.check_jitter(&p.jitter, place)?;
        let mesh = self.mesh(&p.on, &place.key("on"))?;
        let points = match p.at {
            Sample::Vertices if mesh.points.is_empty() => {
                return Err(self.fail(&place.key("at"), "a sphere has no vertices: use surface(count: ..)"));
            }
            Sample::Vertices => scatter::vertices(mesh, p.every),
            Sample::Surface(s) => {
                let all = self.points + u64::from(s.count);
                self.check_count(all, &place.key("at").key("count"))?;
                scatter::on_surface(mesh, s, p.every)
            }
        };
        self.check_count(points.len() as u64, &place.key("at"))?;
        self.points += points.len() as u64;
        self.check_count(self.points, &place.key("at"))?;
        let (align, each) = (p.align == Align::Normal, affine_of(&p.each));
        Ok(Pattern::Scatter(Scatter { points, spread: p.spread.0, align, lift: p.lift.0, each, jitter: p.jitter }))
    }

    fn mesh(&self, name: &str, place: &Place) -> Result<&'a MeshSource, LoadError> {
        self.file.meshes.index(name).map(|i| &self.meshes[i]).ok_or_else(|| {
            let hint = suggest::hint(name, self.file.meshes.names(), "meshes");
            self.fail(place, format!("unknown mesh `{name}`: {hint}"))
        })
    }

    fn check_count(&self, count: u64, place: &Place) -> Result<(), LoadError> {
        check_count(count).map_err(|message| self.fail(place, message))
    }

    fn check_jitter(&self, j: &Jitter, place: &Place) -> Result<(), LoadError> {
        if !(0.0..1.0).contains(&j.scale.0) {
            let message = "the scale's jitter must be at least 0 and below 1";
            return Err(self.fail(&place.key("jitter").key("scale"), message));
        }
        Ok(())
    }
}

/// Checks that so many instances can be numbered and held in memory.
pub fn check_count(count: u64) -> Result<(), String> {
    match count {
        0 => Err("nothing to place: the count must be at least 1".to_owned()),
        n if n > MAX_INSTANCES => Err(format!("{n} instances are too many: at most {MAX_INSTANCES} fit")),
        n => files::fits(n * budget::INSTANCE).map_err(|lack| format!("rendering {n} instances {lack}")),
    }
}

/// The error for a material that the file does not declare.
pub fn unknown_material(source: &Source, file: &SceneFile, name: &str, place: &Place) -> LoadError {
    let hint = suggest::hint(name, file.materials.names(), "materials");
    source.error(place, format!("unknown material `{name}`: {hint}"))
}

impl Item {
    /// Material row of copy `index`, or [`NONE`].
    pub fn material(&self, index: u32) -> u32 {
        let n = self.materials.len() as u32;
        let chosen = match (n, self.choose) {
            (0, _) => return NONE,
            (_, Choose::Cycle) => index % n,
            (_, Choose::Random(seed)) => ((super::random::unit(seed, 9, index) * n as f32) as u32).min(n - 1),
        };
        self.materials[chosen as usize]
    }

    /// Transform from copy `index` to the placement's parent.
    pub fn copy(&self, index: u32) -> Affine3 {
        match self.pattern {
            Pattern::Single => self.whole,
            _ => self.whole * self.pattern.copy(index),
        }
    }
}

/// Unit vector along `v`, or an error message when there is none.
pub fn direction(v: Vec3, what: &str) -> Result<Vec3, String> {
    v.as_dvec3().try_normalize().map(|d| d.as_vec3()).ok_or_else(|| format!("{what} must not be (0, 0, 0)"))
}
