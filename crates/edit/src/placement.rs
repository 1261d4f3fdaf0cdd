//! Movable placements of a scene file: the placement of an instance, its transform, and the values that move it.

use super::{
    EditError,
    number::{number, point},
    parsed,
};
use glam::{EulerRot, Vec3};
use throng_loader::ron::source::{Items, Step, Value};
use throng_scene::{
    Scene,
    desc::{Common, Placement},
};

/// The transform of a placement: scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// In scene units.
    pub translate: Vec3,
    /// Degrees about x, then y, then z.
    pub rotate: Vec3,
    /// Factors along x, y and z.
    pub scale: Vec3,
}

/// The entry of `instances` that made an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its index in `instances`.
    pub entry: usize,
    /// `Single`, `Grid` and so on.
    pub kind: String,
    /// `None` if it cannot be moved.
    pub transform: Option<Transform>,
    /// Reason for which it cannot be moved; empty if it can.
    pub why_not: String,
}

/// Returns the world-level instance with this name, or the one that contains it. Names have the form of Cryptomatte and `picked`; names of instances
/// in assemblies are paths. Takes time proportional to the number of instances.
pub fn instance_named(scene: &Scene, name: &str) -> Option<u32> {
    scene.way_named(name).ok()?.first().copied()
}

/// Returns the entry of `text` for `instance` of `scene`, which must have been loaded from that text. `None` for instances without an entry: lamps,
/// and models without a scene file.
pub fn placement_of(text: &str, scene: &Scene, instance: u32) -> Option<Placed> {
    let run = scene.placed.iter().find(|run| run.instances.contains(&instance))?;
    placed_by(text, run.entry as usize)
}

/// The entry of `instances` with this index; `None` if `text` does not have it.
pub fn placed_by(text: &str, entry: usize) -> Option<Placed> {
    let (file, root) = (parsed(text).ok()?, Value::of_file(text)?);
    let value = root.child(Step::Key("instances"))?.child(Step::Index(entry))?;
    let placement = file.instances.get(entry)?;
    let common = placement.common();
    let why_not = obstacle(placement, &common);
    let transform = why_not.is_empty().then(|| Transform {
        translate: common.translate.0,
        rotate: written_degrees(text, value).unwrap_or_else(|| {
            let (z, y, x) = common.rotate.0.to_euler(EulerRot::ZYX);
            Vec3::new(x, y, z).map(f32::to_degrees)
        }),
        scale: common.scale.0,
    });
    Some(Placed { entry, kind: kind(placement).to_owned(), transform, why_not })
}

fn kind(placement: &Placement) -> &'static str {
    match placement {
        Placement::Single(_) => "Single",
        Placement::Grid(_) => "Grid",
        Placement::Scatter(_) => "Scatter",
        Placement::Random(_) => "Random",
        Placement::Along(_) => "Along",
        Placement::Matrices(_) => "Matrices",
        Placement::Table(_) => "Table",
        Placement::Group(_) => "Group",
    }
}

/// Reason for which a placement cannot be moved; empty if it can.
fn obstacle(placement: &Placement, common: &Common) -> String {
    if !matches!(placement, Placement::Single(_) | Placement::Group(_)) {
        return format!("it is one of the copies that a `{}` makes: change that in the scene file", kind(placement));
    }
    if let Some(drop) = common.drop {
        return format!("it is dropped onto `{}`, wherever it is", drop.on);
    }
    match common.parent {
        Some(parent) => format!("`{parent}` carries it"),
        None => String::new(),
    }
}

/// The rotation in the file's own three numbers, if it has them; other angles may represent an equal rotation.
fn written_degrees(text: &str, placement: &Value) -> Option<Vec3> {
    let Items::Plain(parts) = &placement.child(Step::Key("rotate"))?.items else {
        return None;
    };
    let parts: Option<Vec<f32>> = parts.iter().map(|part| text[part.span.clone()].parse().ok()).collect();
    <[f32; 3]>::try_from(parts?).ok().map(Vec3::from)
}

/// Returns the values that move a placement to `to`, by path, for `--set` and [`super::save_values`]. Only values that change are included.
///
/// # Errors
/// [`EditError::NotMovable`] for placements that cannot be moved, for non-finite numbers, and for a scale of 0.
pub fn moved(placed: &Placed, to: &Transform) -> Result<Vec<(String, String)>, EditError> {
    let fail = |why: &str| Err(EditError::NotMovable { why: why.to_owned() });
    let Some(from) = placed.transform else {
        return fail(&placed.why_not);
    };
    if ![to.translate, to.rotate, to.scale].iter().all(|v| v.is_finite()) {
        return fail("all numbers must be finite");
    }
    if to.scale.cmpeq(Vec3::ZERO).any() {
        return fail("a scale must not be 0");
    }
    let path = |field: &str| format!("instances.{}.{field}", placed.entry);
    let mut values = Vec::new();
    if to.translate != from.translate {
        values.push((path("translate"), point(to.translate)));
    }
    if to.rotate != from.rotate {
        values.push((path("rotate"), point(to.rotate)));
    }
    if to.scale != from.scale {
        let even = to.scale == Vec3::splat(to.scale.x);
        values.push((path("scale"), if even { number(to.scale.x) } else { point(to.scale) }));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::save_values;
    use throng_loader as loader;

    const TEXT: &str = r##"(
    meshes: { "ball": Sphere, "plane": Quad() },
    groups: { "pair": [Single(of: "ball"), Single(of: "ball", translate: (2, 0, 0))] },
    instances: [
        Single(of: "plane"), // the ground
        Single(of: "pair", translate: (1, 2, 3), rotate: (0, 270, 0), scale: (1, 2, 1)),
        Grid(of: "ball", count: (2, 1, 1), spacing: (3, 0, 0)),
        Group(of: [Single(of: "ball")], rotate: (axis: (0, 1, 0), degrees: 90)),
        Single(of: "ball", translate: (0, 5, 0), drop: "plane"),
    ],
)"##;

    fn scene(text: &str) -> Scene {
        loader::build("test", &text.parse().unwrap()).unwrap()
    }

    fn placed(name: &str) -> Placed {
        let scene = scene(TEXT);
        placement_of(TEXT, &scene, instance_named(&scene, name).unwrap()).unwrap()
    }

    #[test]
    fn instances_lead_to_the_entry_that_made_them() {
        let pair = placed("pair/ball.1");
        assert_eq!((pair.entry, pair.kind.as_str()), (1, "Single"));
        let transform = pair.transform.unwrap();
        assert_eq!(transform.translate, Vec3::new(1.0, 2.0, 3.0));
        assert_eq!((transform.rotate.y, transform.scale.y), (270.0, 2.0));
        let copy = placed("ball.1");
        assert_eq!((copy.entry, copy.kind.as_str(), copy.transform), (2, "Grid", None));
        assert!(copy.why_not.contains("that a `Grid` makes"), "{}", copy.why_not);
        let group = placed("ball.2");
        assert_eq!(group.entry, 3);
        assert!((group.transform.unwrap().rotate - Vec3::Y * 90.0).length() < 1e-4);
        assert!(placed("ball.3").why_not.contains("dropped onto `plane`"));
        assert!(instance_named(&scene(TEXT), "ball.9").is_none());
    }

    #[test]
    fn a_placement_is_moved_where_it_stands() {
        let plane = placed("plane");
        let to = Transform { translate: Vec3::Y * -0.5, rotate: Vec3::ZERO, scale: Vec3::splat(4.0) };
        let values = moved(&plane, &to).unwrap();
        let saved = save_values(TEXT, &values).unwrap();
        let expected =
            TEXT.replace("Single(of: \"plane\")", "Single(scale: 4, translate: (0, -0.5, 0), of: \"plane\")");
        assert_eq!(saved, expected);
        let scene = scene(&saved);
        assert_eq!(placement_of(&saved, &scene, 0).unwrap().transform, Some(to));
        assert!(moved(&plane, &Transform { scale: Vec3::ZERO, ..to }).is_err());
        assert!(moved(&placed("ball.0"), &to).is_err());
    }
}
