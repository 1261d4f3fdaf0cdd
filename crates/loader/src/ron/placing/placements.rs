//! `instances` and `groups` with all names resolved and all numbers checked, each entry once.

use super::{
    drop,
    patterns::{Along, Pattern, RandomBox, affine_of},
    placed::{MOST_PLACED, Placed, Search},
    resolved::{Item, ModelGroup, Resolved, Target},
    table,
};
use crate::{
    LoadError,
    budget::{self, Budget},
    files,
    land::ground::Ground,
    meshes::MeshSource,
    model::MeshMotion,
    ron::{
        checked::{Fields, above_zero},
        file::Source,
        meshes::curves::Curves,
        source::{Place, Step},
    },
    suggest,
};
use glam::{Affine3, UVec3};
use std::{collections::HashMap, sync::Arc};
use throng_scene::{
    NONE, Shape,
    desc::{self, Common, Each, Finite, Jitter, MotionDesc, Named, Of, PartDesc, Placement, SceneFile, Varying},
};

/// Maximum number of instances.
pub const MAX_INSTANCES: u64 = 1 << 31;

/// Resolves names and checks numbers.
pub struct Resolver<'a> {
    pub source: &'a Source,
    pub file: &'a SceneFile,
    /// Memory budget of everything that is read.
    pub budget: &'a Budget,
    pub meshes: &'a [MeshSource],
    pub curves: &'a Curves,
    targets: HashMap<&'a str, Target>,
    materials: HashMap<&'a str, u32>,
    motions: HashMap<&'a str, u32>,
    lists: Vec<Vec<Item>>,
    models: &'a [ModelGroup],
    /// Number of points of all scatters so far.
    pub points: u64,
    /// The ground onto which copies were dropped last, and the meshes of which it consists.
    ground: Option<(Vec<Placed>, Arc<Ground>)>,
}

impl<'a> Resolver<'a> {
    /// Prepares to resolve a file. `material_rows` must contain the table row of each of the file's materials.
    pub fn new(
        (source, file, budget): (&'a Source, &'a SceneFile, &'a Budget),
        (meshes, curves): (&'a [MeshSource], &'a Curves),
        material_rows: &[u32],
        models: &'a [ModelGroup],
    ) -> Self {
        let groups = file.groups.names().enumerate().map(|(i, n)| (n, Target::List(i)));
        let named_meshes = file.meshes.names().enumerate().map(|(i, n)| (n, Target::Mesh(i)));
        let first_model = file.groups.0.len();
        let named_models = (first_model..).zip(models).map(|(i, model)| (model.name.as_str(), Target::List(i)));
        Self {
            source,
            file,
            budget,
            meshes,
            curves,
            targets: groups.chain(named_meshes).chain(named_models).collect(),
            materials: file.materials.names().zip(material_rows.iter().copied()).collect(),
            motions: file.motions.names().zip(0..).collect(),
            lists: Vec::new(),
            models,
            points: 0,
            ground: None,
        }
    }

    /// Resolves the whole file.
    ///
    /// # Errors
    /// The first unknown name or number out of range.
    pub fn resolve(mut self) -> Result<Resolved, LoadError> {
        let file = self.file;
        let (groups, instances) = (Place::ROOT.key("groups"), Place::ROOT.key("instances"));
        self.check_group_names(&groups)?;
        self.lists.resize_with(file.groups.0.len(), Vec::new);
        let mut inner = Vec::new();
        let first_inner = self.lists.len() + self.models.len();
        for model in self.models {
            let mut lists = model.lists(self.lists.len(), first_inner + inner.len()).into_iter();
            self.lists.extend(lists.next());
            inner.extend(lists);
        }
        self.lists.append(&mut inner);
        for (i, (name, list)) in file.groups.0.iter().enumerate() {
            self.lists[i] = self.list(list, &groups.key(name))?;
        }
        let top = self.list(&file.instances, &instances)?;
        let models = self.models.iter().map(|model| model.name.as_str());
        let inner = self.models.iter().flat_map(|model| model.inner_names()).map(String::as_str);
        let names = file.groups.names().chain(models).chain(inner).map(str::to_owned).collect();
        Ok(Resolved { lists: self.lists, names, top })
    }

    pub fn fail(&self, place: &Place, message: impl AsRef<str>) -> LoadError {
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
        let mut items = Vec::new();
        for (entry, placement) in list.iter().enumerate() {
            let more = self.items(placement, entry, &items, &place.index(entry))?;
            items.extend(more);
        }
        Ok(items)
    }

    /// The items of a placement; `above` are the earlier items of its list.
    fn items(
        &mut self,
        placement: &'a Placement,
        entry: usize,
        above: &[Item],
        place: &Place,
    ) -> Result<Vec<Item>, LoadError> {
        let common = placement.common();
        let whole = affine_of(&Each { translate: common.translate, rotate: common.rotate, scale: common.scale });
        let pattern = match placement {
            Placement::Single(_) | Placement::Group(_) => Pattern::Single,
            Placement::Grid(p) => self.grid(p, place)?,
            Placement::Scatter(p) => Pattern::Scatter(self.scatter(p, &whole, above, place)?),
            Placement::Random(p) => self.random(p, place)?,
            Placement::Along(p) => self.along(p, place)?,
            Placement::Matrices(p) if !p.times.is_empty() => Pattern::Table(table::of_matrices(self, p, place)?),
            Placement::Matrices(p) => Pattern::Matrices(self.matrices(p, place)?),
            Placement::Table(p) => Pattern::Table(table::resolve(self, p, place)?),
        };
        let targets = self.targets(common.of, place)?;
        for (target, _) in &targets {
            self.check_clip(&common, *target, place)?;
        }
        let mut item = Item {
            entry,
            target: targets[0].0,
            whole,
            pattern: Arc::new(pattern),
            chosen: None,
            materials: self.materials(&common, place)?,
            choose: common.choose,
            motion: self.motion(&common, place)?,
            keeps_gaps: self.keeps_gaps(&common),
            parent: self.parent(&common, above, place)?,
            visible: match common.visible {
                Varying::Always(true) => None,
                varying => Some(varying.track()),
            },
            nest: common.nest,
        };
        if let Some(desc) = common.drop {
            let place = place.key("drop");
            let ground = self.ground(&desc.on, above, &place)?;
            item.chosen = Some(drop::onto(&ground, &item, desc));
            if item.count() == 0 {
                let message = format!("no copy is above or below `{}`: move them, or make it larger", desc.on);
                return Err(self.fail(&place, message));
            }
        }
        Ok(item.shared(&targets, common.mix_seed))
    }

    fn matrices(&self, placement: &desc::Matrices, place: &Place) -> Result<Arc<[Affine3]>, LoadError> {
        let transforms = &placement.transforms;
        if transforms.is_empty() {
            return Err(self.fail(place, "there are no transforms: give at least one"));
        }
        match transforms.iter().position(|transform| !transform.is_finite()) {
            Some(index) => Err(self.fail(place, format!("transform {index} is not finite: every number must be"))),
            None => Ok(transforms.clone()),
        }
    }

    /// The targets of a placement, with their weights.
    fn targets(&mut self, of: &'a Of, place: &Place) -> Result<Vec<(Target, f32)>, LoadError> {
        let place = place.key("of");
        match of {
            Of::Name(name) => Ok(vec![(self.target(name, &place)?, 1.0)]),
            Of::List(list) => {
                let items = self.list(list, &place)?;
                self.lists.push(items);
                Ok(vec![(Target::List(self.lists.len() - 1), 1.0)])
            }
            Of::Weighted(things) => self.weighted(things, &place),
        }
    }

    fn weighted(&self, things: &Named<Finite>, place: &Place) -> Result<Vec<(Target, f32)>, LoadError> {
        if things.0.is_empty() {
            return Err(self.fail(place, "there is nothing to choose from: name at least one thing"));
        }
        let weighted = |(name, weight): &(String, Finite)| {
            let place = place.key(name);
            let weight = self.source.check(&place, above_zero(weight.0, &format!("the weight of `{name}`")))?;
            Ok((self.target(name, &place)?, weight))
        };
        let weighted = things.0.iter().map(weighted).collect::<Result<Vec<_>, _>>()?;
        if weighted.iter().map(|(_, weight)| weight).sum::<f32>().is_finite() {
            Ok(weighted)
        } else {
            Err(self.fail(place, "the sum of the weights is too large: use smaller weights"))
        }
    }

    fn target(&self, name: &str, place: &Place) -> Result<Target, LoadError> {
        self.targets.get(name).copied().ok_or_else(|| {
            let known = self.file.meshes.names().chain(self.file.groups.names());
            let hint = suggest::hint(name, known, "meshes and groups");
            self.fail(place, format!("unknown mesh or group `{name}`: {hint}"))
        })
    }

    /// The meshes that are, or are part of, the copies of a mesh or group that earlier placements create.
    ///
    /// # Errors
    /// If there are none or too many.
    pub fn placed(&self, name: &str, above: &[Item], place: &Place) -> Result<Vec<Placed>, LoadError> {
        let target = self.target(name, place)?;
        let message = match Search::run(&self.lists, above, target) {
            Some(placed) if placed.is_empty() => {
                format!("`{name}` is not placed earlier in this list: place it first")
            }
            Some(placed) => return Ok(placed),
            None => format!(
                "there are more than {MOST_PLACED} copies of `{name}`: name something that is placed less often"
            ),
        };
        Err(self.fail(place, message))
    }

    /// A mesh or group as placed by earlier placements, for height queries.
    fn ground(&mut self, name: &str, above: &[Item], place: &Place) -> Result<Arc<Ground>, LoadError> {
        let placed = self.placed(name, above, place)?;
        if let Some((known, ground)) = &self.ground
            && *known == placed
        {
            return Ok(ground.clone());
        }
        let meshes = || placed.iter().filter_map(|(mesh, at)| Some((self.meshes[*mesh].mesh.triangles()?, *at)));
        let triangles: u64 = meshes().map(|(mesh, _)| mesh.triangles.len() as u64).sum();
        if triangles == 0 {
            return Err(self.fail(place, format!("`{name}` has no triangles: spheres are no ground")));
        }
        let ground = Ground::new(meshes().map(|(mesh, at)| (&mesh.positions[..], &mesh.triangles[..], at)))
            .map_err(|lack| self.fail(place, format!("looking for heights on {triangles} triangles {lack}")))?;
        let ground = Arc::new(ground);
        self.ground = Some((placed, ground.clone()));
        Ok(ground)
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

    /// The group that is the parent of a placement.
    fn parent(&self, common: &Common, above: &[Item], place: &Place) -> Result<Option<usize>, LoadError> {
        let Some(name) = common.parent else { return Ok(None) };
        let field = place.key("parent");
        if !matches!(place.steps()[..], [Step::Key("instances"), Step::Index(_)]) {
            return Err(self.fail(&field, "only entries of `instances` have a parent: put both into one group"));
        }
        let Some(group) = self.file.groups.index(name) else {
            let hint = suggest::hint(name, self.file.groups.names(), "groups");
            return Err(self.fail(&field, format!("there is no group `{name}`: {hint}")));
        };
        if above.iter().any(|item| item.target == Target::List(group)) {
            Ok(Some(group))
        } else {
            let message = format!("no entry above places the group `{name}` itself: add one");
            Err(self.fail(&field, message))
        }
    }

    /// Whether the motion keeps a gap between each copy and the previous one.
    fn keeps_gaps(&self, common: &Common) -> bool {
        let motion = common.motion.and_then(|name| self.file.motions.index(name));
        let has_gap = |part: &PartDesc| matches!(part, PartDesc::Follow(follow) if follow.gap.0 != 0.0);
        motion.is_some_and(|motion| self.file.motions.0[motion].1.parts.iter().any(has_gap))
    }

    /// Checks that the target of a motion with a clip has one, and that the target of a bending motion can bend.
    fn check_clip(&self, common: &Common, target: Target, place: &Place) -> Result<(), LoadError> {
        let Some((_, motion)) = common.motion.and_then(|name| {
            let named = |(own, _): &&(String, MotionDesc)| own == name;
            self.file.motions.0.iter().find(named)
        }) else {
            return Ok(());
        };
        if motion.parts.iter().any(|part| matches!(part, PartDesc::Sway(sway) if sway.bend.is_some())) {
            return self.check_bend(target, &place.key("motion"));
        }
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

    /// Checks that a target can bend: it must be a static mesh of triangles, or a group.
    fn check_bend(&self, target: Target, place: &Place) -> Result<(), LoadError> {
        let message = match target {
            Target::Mesh(mesh) if !matches!(self.meshes[mesh].motion, MeshMotion::Still) => {
                "the motion bends a mesh at rest, and this one has a clip: remove `clip` and `alive` from the mesh, or `bend` from the motion"
            }
            Target::Mesh(mesh) if matches!(self.meshes[mesh].mesh.shape, Shape::Sphere) => {
                "the motion bends triangles, and a sphere has none: use another mesh"
            }
            // Groups are joined into one mesh.
            Target::Mesh(_) | Target::List(_) => return Ok(()),
        };
        Err(self.fail(place, message))
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

    fn along(&self, p: &desc::Along, place: &Place) -> Result<Pattern, LoadError> {
        self.check_jitter(&p.jitter, place)?;
        let curve = self.curves.get(self.source, &p.curve, &place.key("curve"))?;
        let fields = Fields { source: self.source, place };
        let [from, to] = fields.part(p.from, p.to, curve.length())?.map(f64::from);
        let is_round = curve.is_closed() && from == 0.0 && to == f64::from(curve.length());
        let (count, step) = match (p.count, p.spacing) {
            (Some(_), Some(_)) => {
                return Err(self.fail(&place.key("spacing"), "both `count` and `spacing`: remove one"));
            }
            (None, None) => return Err(self.fail(place, "write `spacing` or `count`")),
            (Some(count), None) => {
                let steps = if is_round { count } else { count.saturating_sub(1) };
                (u64::from(count), (to - from) / f64::from(steps.max(1)))
            }
            (None, Some(spacing)) => {
                let spacing = f64::from(fields.above_zero(spacing, "spacing")?);
                // The tolerance handles rounding of a spacing that fits exactly.
                let steps = ((to - from) / spacing + 1e-4).floor();
                if is_round {
                    (steps.max(1.0) as u64, (to - from) / steps.max(1.0))
                } else {
                    ((steps as u64).saturating_add(1), spacing)
                }
            }
        };
        let counted = if p.count.is_some() { "count" } else { "spacing" };
        self.check_count(count, &place.key(counted))?;
        Ok(Pattern::Along(Along {
            curve: curve.clone(),
            count: count as u32,
            start: from,
            step,
            offset: p.offset.0,
            face: p.face,
            each: affine_of(&p.each),
            jitter: p.jitter,
        }))
    }

    pub fn check_count(&self, count: u64, place: &Place) -> Result<(), LoadError> {
        self.source.check(place, check_count(count))
    }

    pub fn check_jitter(&self, j: &Jitter, place: &Place) -> Result<(), LoadError> {
        if !(0.0..1.0).contains(&j.scale.0) {
            let message = "the scale's jitter must be at least 0 and below 1";
            return Err(self.fail(&place.key("jitter").key("scale"), message));
        }
        Ok(())
    }
}

/// Checks that this number of instances can be numbered and fits into memory.
///
/// # Errors
/// If not. The text is a sentence.
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
