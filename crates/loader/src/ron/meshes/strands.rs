//! Entries of `meshes` that are strands of a file (`Curves`).

use crate::{
    LoadError,
    budget::{Budget, of_curves},
    geometry::fit::Fit,
    meshes::MeshSource,
    model::{MeshMotion, SampleKey, sampled_motion},
    ron::{
        checked::{Fields, above_zero},
        file::Source,
        source::Place,
    },
    strands::{self, Strands},
    usd::curves::{self, Built, Look},
};
use glam::{Affine3, Vec3};
use std::sync::Arc;
use throng_base::math::Aabb;
use throng_scene::{
    CurveProfile, Ends, FrameRate, Mesh, RenderDefaults, Shape,
    desc::{CurvesFile, SceneFile, StrandBasis, StrandProfile},
};
use throng_usd::{CurveBasis, CurveSet, CurveWrap, Interpolation, Primvar, Sampled};

/// Bytes per point and frame of a cache that deforms: offsets, their source, and shapes of frames in flight.
const MOVING_POINT: u64 = 12 * 8;

/// Reads an entry's file. Returns its mesh with the material at `row`, and warnings.
///
/// # Errors
/// If a field is out of range, if the file is faulty, or if memory does not suffice.
pub fn read(
    (source, file): (&Source, &SceneFile),
    name: &str,
    desc: &CurvesFile,
    (row, budget): (u32, &Budget),
    place: &Place,
) -> Result<(MeshSource, Vec<String>), LoadError> {
    let fields = Fields { source, place };
    let path = source.resolve(&desc.file);
    let known = strands::EXTENSIONS;
    if !known.contains(&crate::extension(&path).as_str()) {
        let message = format!("{} has no curves that are known: write .{}", path.display(), known.join(", ."));
        return fields.fail("file", message);
    }
    fields.existing(&desc.file, "the file of curves", "file")?;
    let mut strands = strands::read(&path, budget)?;
    let points = strands.points() * strands.frames.len();
    let bytes = of_curves(strands.points()).saturating_add((points as u64).saturating_mul(MOVING_POINT));
    fields
        .check("file", budget.take(bytes).map_err(|lack| format!("the meshes so far and these curves: all {lack}")))?;
    set_widths(&fields, desc, &mut strands)?;
    place_points(&fields, desc, &mut strands)?;
    let keys = keys(&fields, desc, file, &strands)?;
    let built = build(desc, strands);
    let mut warnings = Vec::new();
    if built.invalid > 0 {
        let line = "have points that are not finite or too far away; they are left out";
        warnings.push(format!("{}: {} of its curves {line}", path.display(), built.invalid));
    }
    let Some(shape) = built.shape else {
        return fields.fail("file", format!("no curve in {} has a length: check `basis`", path.display()));
    };
    let motion = match keys.len() {
        0 | 1 => MeshMotion::Still,
        _ => {
            let (targets, count) = curves::targets(&shape, &built.later);
            sampled_motion(targets, count, &keys, desc.ends != Ends::Hold)
        }
    };
    let shape = with_profile(shape, desc.profile);
    let mesh = Mesh { name: name.to_owned(), shape, slot_count: 1 };
    Ok((MeshSource { motion, ..MeshSource::of_mesh(mesh, vec![row]) }, warnings))
}

/// Applies `width` and `tip`.
fn set_widths(fields: &Fields, desc: &CurvesFile, strands: &mut Strands) -> Result<(), LoadError> {
    let tip = fields.not_negative(desc.tip, "tip")?;
    let Some(width) = desc.width else {
        if strands.widths.is_none() {
            return fields.fail("width", "the file has no widths: write `width`");
        }
        return Ok(());
    };
    let root = fields.above_zero(width, "width")?;
    let along = |count: u32| {
        let last = count.saturating_sub(1).max(1) as f32;
        (0..count).map(move |point| root * (1.0 + (tip - 1.0) * point as f32 / last))
    };
    strands.widths = Some(Primvar {
        interpolation: Interpolation::Vertex,
        values: strands.counts.iter().flat_map(|&count| along(count)).collect(),
        indices: Vec::new(),
    });
    Ok(())
}

/// Applies `up` and `fit`.
fn place_points(fields: &Fields, desc: &CurvesFile, strands: &mut Strands) -> Result<(), LoadError> {
    let upright = crate::tables::upright(desc.up);
    let first = strands.frames[0].iter().map(|&point| upright.transform_point3(Vec3::from(point)));
    let bounds = Aabb::of_points(first.filter(|point| point.is_finite()));
    let fitted = match desc.fit {
        None => Affine3::IDENTITY,
        Some(size) => {
            let fit = Fit::new(&bounds, size.0).map_err(|lack| format!("the curves {lack}"));
            fields.check("fit", fit)?.transform()
        }
    };
    let all = fitted * upright;
    if all == Affine3::IDENTITY {
        return Ok(());
    }
    for point in strands.frames.iter_mut().flatten() {
        *point = all.transform_point3(Vec3::from(*point)).into();
    }
    let scale = fitted.matrix3.x_axis.x;
    strands.widths.iter_mut().flat_map(|widths| &mut widths.values).for_each(|width| *width *= scale);
    Ok(())
}

/// The time and number of each frame, by `fps`, `start` and `ends`.
fn keys(fields: &Fields, desc: &CurvesFile, file: &SceneFile, strands: &Strands) -> Result<Vec<SampleKey>, LoadError> {
    let fps = desc.fps.map(|fps| fields.check("fps", above_zero(fps.0, "fps"))).transpose()?;
    let scene = file.render.fps.map_or(RenderDefaults::default().fps, |fps| fps.0);
    let fps = FrameRate::of(fps.unwrap_or(scene)).fps();
    let count = strands.frames.len();
    let seconds = strands.times.clone().unwrap_or_else(|| (0..count).map(|frame| frame as f64 / fps).collect());
    let mut keys: Vec<SampleKey> = seconds.iter().map(|second| second + desc.start.0).zip(0..).collect();
    if desc.ends == Ends::PingPong && count > 1 {
        let last = keys[count - 1].0;
        let back: Vec<SampleKey> =
            keys[..count - 1].iter().rev().map(|&(at, frame)| (2.0 * last - at, frame)).collect();
        keys.extend(back);
    }
    Ok(keys)
}

/// The curves as a set of a stage, whose curves they share.
fn build(desc: &CurvesFile, strands: Strands) -> Built {
    let Strands { frames, counts, widths, uvs, colors, opacities, .. } = strands;
    let numbered = (0..).map(f64::from).zip(frames);
    let mut samples: Vec<(f64, Vec<[f32; 3]>)> = numbered.collect();
    let points = match samples.len() {
        1 => Sampled::Still(samples.remove(0).1),
        _ => Sampled::Moving(samples),
    };
    let (basis, wrap) = match desc.basis {
        StrandBasis::Linear => (CurveBasis::Linear, CurveWrap::NonPeriodic),
        StrandBasis::Bezier => (CurveBasis::Bezier, CurveWrap::NonPeriodic),
        StrandBasis::BSpline => (CurveBasis::BSpline, CurveWrap::Pinned),
        StrandBasis::CatmullRom => (CurveBasis::CatmullRom, CurveWrap::Pinned),
    };
    let set = CurveSet { points, counts, basis, wrap, widths, ..CurveSet::default() };
    curves::build(&set, &Look { colors: colors.as_ref(), opacities: opacities.as_ref(), uvs: uvs.as_ref() })
}

fn with_profile(shape: Shape, profile: StrandProfile) -> Shape {
    match shape {
        Shape::Curves(mut curves) if profile == StrandProfile::Ribbon => {
            Arc::make_mut(&mut curves).profile = CurveProfile::Ribbon;
            Shape::Curves(curves)
        }
        shape => shape,
    }
}
