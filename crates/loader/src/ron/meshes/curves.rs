//! The `curves` section: curves from points, from lines in OBJ files, and from animations of glTF nodes.

use crate::{
    LoadError,
    budget::Budget,
    files,
    gltf::{self, GltfOptions, Model},
    obj::polylines::{Polyline, polylines},
    options::choose,
    ron::{checked::not_zero, file::Source, source::Place},
    suggest,
};
use glam::{Affine3A, Vec3};
use std::{collections::BTreeSet, path::PathBuf, sync::Arc};
use throng_scene::anim::RigPose;
use throng_scene::{
    curve::{Curve, CurveError},
    desc::{CurveDesc, Finite, GltfCurve, ObjCurve, Point, SceneFile},
    rig::{Channel, Interpolation, Property, Rig},
};

/// The named curves of a file, in its order.
#[derive(Default)]
pub struct Curves(Vec<(String, Arc<Curve>)>);

impl Curves {
    /// Creates all curves of a file. Files that models refer to may also be in the folders `allow`.
    ///
    /// # Errors
    /// If points form no valid curve, if a file is missing or damaged, or if it lacks the given line or node.
    pub fn read(source: &Source, file: &SceneFile, allow: &[PathBuf], budget: &Budget) -> Result<Self, LoadError> {
        let all = Place::ROOT.key("curves");
        let reader = Reader { source, allow, budget };
        let named =
            |(name, desc): &(String, CurveDesc)| Ok((name.clone(), Arc::new(reader.curve(desc, &all.key(name))?)));
        file.curves.0.iter().map(named).collect::<Result<_, _>>().map(Self)
    }

    /// The curve with this name, which is written at `place`.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, source: &Source, name: &str, place: &Place) -> Result<&Arc<Curve>, LoadError> {
        self.find(name).ok_or_else(|| {
            let hint = suggest::hint(name, self.names(), "curves");
            source.error(place, format!("unknown curve `{name}`: {hint}"))
        })
    }

    /// The curve with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<&Arc<Curve>> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, curve)| curve)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

struct Reader<'a> {
    source: &'a Source,
    allow: &'a [PathBuf],
    budget: &'a Budget,
}

impl Reader<'_> {
    fn curve(&self, desc: &CurveDesc, place: &Place) -> Result<Curve, LoadError> {
        let vectors = |points: &[Point]| points.iter().map(|p| p.0).collect::<Vec<_>>();
        match desc {
            CurveDesc::CatmullRom(c) => {
                self.made(Curve::catmull_rom(&vectors(&c.points), c.closed), &place.key("points"))
            }
            CurveDesc::Bezier(c) => self.made(Curve::bezier(&vectors(&c.points)), &place.key("points")),
            CurveDesc::Obj(c) => self.obj(c, place),
            CurveDesc::Gltf(c) => self.gltf(c, place),
        }
    }

    fn made(&self, curve: Result<Curve, CurveError>, place: &Place) -> Result<Curve, LoadError> {
        self.source.check(place, curve.map_err(|e| e.to_string()))
    }

    /// The path of a file, which must have one of these extensions.
    fn path(&self, file: &str, extensions: &[&str], place: &Place) -> Result<PathBuf, LoadError> {
        let path = self.source.resolve(file);
        let message = match crate::extension(&path) {
            e if !extensions.contains(&e.as_str()) => format!("is no .{} file", extensions.join(" or .")),
            _ if !files::exists(&path) => "does not exist: check the path".to_owned(),
            _ => return Ok(path),
        };
        Err(self.source.error(&place.key("file"), format!("the file of the curve, {}, {message}", path.display())))
    }

    fn scale(&self, scale: Finite, place: &Place) -> Result<f32, LoadError> {
        self.source.check(&place.key("scale"), not_zero(scale.0, "a scale"))
    }

    fn obj(&self, desc: &ObjCurve, place: &Place) -> Result<Curve, LoadError> {
        let path = self.path(&desc.file, &["obj"], place)?;
        let scale = self.scale(desc.scale, place)?;
        let lines = polylines(&path)?;
        let is_wanted = |line: &&Polyline| desc.name.as_ref().is_none_or(|name| line.names.contains(name));
        let wanted: Vec<&Polyline> = lines.iter().filter(is_wanted).collect();
        if wanted.is_empty()
            && let Some(name) = &desc.name
        {
            let mut names: BTreeSet<&str> = lines.iter().flat_map(|line| &line.names).map(String::as_str).collect();
            names.remove("");
            let hint = suggest::hint(name, names.iter().copied(), "objects and groups with lines");
            return Err(self.source.error(&place.key("name"), format!("there are no lines in `{name}`: {hint}")));
        }
        let Some(line) = wanted.get(desc.line as usize) else {
            let message = format!("there is no line {}: there are {}, counted from 0", desc.line, wanted.len());
            return Err(self.source.error(&place.key("line"), message));
        };
        self.through(line.points.iter().map(|p| *p * scale), place)
    }

    /// Straight lines through points from a file; repeated points are merged. The curve is closed if it ends at its start.
    fn through(&self, points: impl Iterator<Item = Vec3>, place: &Place) -> Result<Curve, LoadError> {
        let mut points: Vec<Vec3> = points.collect();
        points.dedup();
        let closed = points.len() > 3 && points.first() == points.last();
        if closed {
            points.pop();
        }
        self.made(Curve::polyline(&points, closed), &place.key("file"))
    }

    fn gltf(&self, desc: &GltfCurve, place: &Place) -> Result<Curve, LoadError> {
        let path = self.path(&desc.file, &["gltf", "glb"], place)?;
        let scale = Affine3A::from_scale(Vec3::splat(self.scale(desc.scale, place)?));
        let options =
            GltfOptions { allow_dirs: self.allow.to_owned(), skip_environment: true, ..GltfOptions::default() };
        let Model { rig, .. } = gltf::load_within(&path, &options, self.budget)?;
        let names = rig.nodes.iter().map(|node| node.name.as_str());
        let node = self.source.check(&place.key("node"), choose(&desc.node, names, ("node", "nodes")))? as u32;
        let channel = self.channel(&rig, desc, node, place)?;
        let mut rest = RigPose::default();
        rest.evaluate(&rig, &[], 0.0);
        let world = scale * rest.world(rig.nodes[node as usize].parent);
        let at = |v: &[f32]| world.transform_point3(Vec3::from_slice(v));
        if channel.interpolation == Interpolation::CubicSpline {
            return self.made(Curve::bezier(&spline_controls(channel, at)), &place.key("node"));
        }
        self.through(channel.values.chunks_exact(3).map(at), place)
    }

    /// The keys of the node's translation.
    fn channel<'r>(&self, rig: &'r Rig, desc: &GltfCurve, node: u32, place: &Place) -> Result<&'r Channel, LoadError> {
        let clips = match &desc.animation {
            None => &rig.clips[..],
            Some(name) => {
                let names = rig.clips.iter().map(|clip| clip.name.as_str());
                let place = place.key("animation");
                let clip = self.source.check(&place, choose(name, names, ("animation", "animations")))?;
                self.source.check(&place, rig.clips[clip].playable())?;
                &rig.clips[clip..=clip]
            }
        };
        let moves = |c: &&Channel| c.node == node && c.property == Property::Translation;
        clips.iter().flat_map(|clip| &clip.channels).find(moves).ok_or_else(|| {
            let message = format!("no animation moves the node `{}`: name one whose translation has keys", desc.node);
            self.source.error(&place.key("node"), message)
        })
    }
}

/// The Bézier control points of a cubic glTF spline, whose tangents are per second. Segments without movement are omitted.
fn spline_controls(channel: &Channel, at: impl Fn(&[f32]) -> Vec3) -> Vec<Vec3> {
    let keys: Vec<[Vec3; 3]> =
        channel.values.chunks_exact(9).map(|k| [0, 3, 6].map(|i| Vec3::from_slice(&k[i..]))).collect();
    let mut points: Vec<Vec3> = keys.first().map(|k| at(&k[1].to_array())).into_iter().collect();
    for (i, pair) in keys.windows(2).enumerate() {
        let third = (channel.times[i + 1] - channel.times[i]) / 3.0;
        let controls = [pair[0][1] + pair[0][2] * third, pair[1][1] - pair[1][0] * third, pair[1][1]];
        if controls.iter().any(|c| *c != pair[0][1]) {
            points.extend(controls.map(|c| at(&c.to_array())));
        }
    }
    points
}
