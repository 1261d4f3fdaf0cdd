//! Launch parameters that every device computes alike: all but the addresses of tables, trees and pictures.

use crate::{DeviceError, Frame, FrameSettings};
use glam::Vec3;
use std::{
    f32::consts::{PI, TAU},
    ptr::{null, null_mut},
};
use throng_abi::{
    self as abi, CameraRecord, CompressedNode, DisplayParams, FilmParams, FogRecord, FrameParams, MeshKeys,
    PictureParams, Unit, ViewRecord,
};
use throng_accel::SLACK;
use throng_base::math::{Aabb, hash_u32};
use throng_picture::{aov::Aov, film::SampledFilter};
use throng_scene::anim::CameraPose;
use throng_scene::{Distortion, Fog, Integrator, Layering, Paths, Projection, Shows, Thinning, ToneMap};

/// Display value to which a single sample is clamped if the film is only used for display values.
const SAMPLE_CLAMP: f32 = 24.0;
/// Numbers of lanes with a leaf at which leaves are tested after a round's first node, and at its end. Rays meet few leaves in each instance they
/// enter, so it pays to wait until several lanes have one. For a single mesh it hardly does.
const ONE_LEAF_LANES: [u32; 2] = [1, 3];
const MANY_LEAF_LANES: [u32; 2] = [9, 6];
/// Splitting traversals has a cost per hit. Traversals of a single mesh are short and hit often, so splitting starts when few lanes are left.
const ONE_SPLIT: u32 = 24;
const MANY_SPLIT: u32 = 8;
/// A picture's shadow rays start on a surface, inside overlapping boxes that contain few of their blockers, so far boxes are visited first. Nothing
/// is known about the rays of queries, which visit near boxes first.
const FAR_FIRST: u32 = 7;
/// Error of distances to a large primitive, relative to half of its extent.
const NEAR: f32 = 1.0 / 262144.0;
/// Bits of a sample number if the final sample count is unknown: enough for the maximum that settings allow.
const OPEN_ENDED_BITS: u32 = 20;
/// Height fog is cut off at this many scale heights above its base. The remaining density, e^-40, is below rounding error.
const THINNING_HEIGHTS: f32 = 40.0;
/// Fraction of the sky's light that blocked points receive in place of further bounces.
const AMBIENT_FILL: f32 = 0.5;

/// Values of a frame for rays without a time.
pub fn frame_params(frame: &Frame) -> FrameParams {
    let bounds = frame.tlas.bounds();
    let (start_base, start_mask) = start_group(&frame.tlas.units);
    let single = frame.tlas.records.len() == 1;
    // Room for rounding of the widened bounds.
    let widened = 1.25 * SLACK * bounds.magnitude();
    let [leaf_lanes, late_leaf_lanes] = if single { ONE_LEAF_LANES } else { MANY_LEAF_LANES };
    FrameParams {
        moves: 0,
        tlas_root: frame.tlas.tree.root,
        tlas_magnitude: bounds.magnitude(),
        start_base,
        start_mask,
        leaf_lanes,
        late_leaf_lanes,
        split_lanes: if single { ONE_SPLIT } else { MANY_SPLIT },
        bounds_min: (bounds.min - widened).to_array(),
        bounds_max: (bounds.max + widened).to_array(),
        ao_distance: 0.05 * bounds.diagonal(),
        depth_range: depth_range(&bounds, frame.camera.eye),
        fog: fog_record(frame.fog().as_ref()),
        origin: frame.tlas.origin.into(),
        near: NEAR * frame.scene.far().reach.unwrap_or(0.0),
    }
}

/// Fog in the layout that kernels read; zero density for `None`.
pub fn fog_record(fog: Option<&Fog>) -> FogRecord {
    let Some(fog) = fog else {
        return FogRecord::default();
    };
    let top = fog.top.unwrap_or(f32::INFINITY);
    let (base, top, inverse_height) = match fog.thinning {
        Some(Thinning { base, height }) => (base, top.min(base + THINNING_HEIGHTS * height), 1.0 / height),
        None => (top, top, 0.0),
    };
    FogRecord {
        albedo: fog.albedo.into(),
        density: fog.density,
        anisotropy: fog.anisotropy,
        base: base.min(top),
        top,
        inverse_height,
    }
}

/// Picture settings in the layout that kernels read.
pub fn picture_params(frame: &Frame, settings: &FrameSettings) -> PictureParams {
    let film = &settings.film;
    let samples = (!settings.open_ended).then_some(settings.samples);
    let filter = SampledFilter::new(settings.filter(), film.filter_width, samples);
    let ViewRecord { camera, seed, .. } = view_record(frame, settings);
    PictureParams {
        views: null(),
        camera,
        bounces: settings.bounces,
        seed,
        sample_bits: if settings.open_ended {
            OPEN_ENDED_BITS
        } else {
            settings.samples.max(1).next_power_of_two().ilog2()
        },
        integrator: integrator_number(settings.integrator),
        any_order: FAR_FIRST,
        filter_textures: settings.filter_textures.into(),
        single_scatter: settings.single_scatter.into(),
        viewer_layering: (settings.layering == Layering::Viewer).into(),
        filter: filter.kind,
        filter_table: filter.table as u32,
        filter_scale: filter.scale,
        filter_signed: filter.signed.into(),
        radiance_clamp: radiance_clamp(settings),
        indirect_clamp: settings.clamp_indirect.unwrap_or(f32::INFINITY),
        ambient_fill: AMBIENT_FILL,
        transparent: settings.transparent.into(),
        star_radius: star_radius(&frame.camera, settings.height),
        edge_width: settings.wireframe.unwrap_or(1.0),
        draws_edges: settings.wireframe.is_some().into(),
    }
}

/// What differs between the pictures of a batch.
pub fn view_record(frame: &Frame, settings: &FrameSettings) -> ViewRecord {
    let frame_seed = if settings.lock_seed { 0 } else { hash_u32(frame.number) };
    ViewRecord {
        camera: camera_record(&frame.camera, settings.aspect()),
        seed: hash_u32(settings.seed ^ frame_seed),
        reserved: 0,
    }
}

/// Upper limit of a sample's radiance. Linear files and films that are kept have no limit, whatever the exposure.
fn radiance_clamp(settings: &FrameSettings) -> f32 {
    let is_shown = settings.display_only && !settings.open_ended;
    match settings.integrator.paths() {
        Paths::Reflected if is_shown => SAMPLE_CLAMP / settings.exposure.exp2(),
        Paths::Reflected | Paths::Scattered | Paths::FirstHit { .. } | Paths::Counted => f32::INFINITY,
    }
}

/// Angular radius of stars: large enough to be found with a few samples per pixel, and small enough for their cells.
pub fn star_radius(pose: &CameraPose, height: u32) -> f32 {
    const PIXELS: f32 = 1.5;
    let picture = match pose.projection {
        Projection::Perspective { fov_y } => 2.0 * (0.5 * fov_y).tan(),
        Projection::Orthographic { .. } => 0.0,
        Projection::Equirectangular => PI,
    };
    (PIXELS * picture / height as f32).clamp(1e-4, 4e-3)
}

/// The settings that convert a film to pixels.
pub fn display_params(settings: &FrameSettings) -> DisplayParams {
    settings.film.display_params(settings.exposure, tone_map(settings), settings.pixels.code())
}

/// Film parameters of a picture; devices set the addresses.
pub fn film_params(settings: &FrameSettings) -> FilmParams {
    let (width, height) = settings.film_size();
    FilmParams {
        sums: null_mut(),
        half_sums: null_mut(),
        other_sums: null(),
        tile_errors: null_mut(),
        tiles: null(),
        pixels: null_mut(),
        aovs: null(),
        alpha: null(),
        shadow: null(),
        wireframe: null(),
        width,
        height,
        picture_width: settings.width,
        picture_height: settings.height,
        left: settings.region.map_or(0, |region| region.x),
        top: settings.region.map_or(0, |region| region.y),
        sample_begin: 0,
        sample_end: 0,
        exact: settings.open_ended.into(),
    }
}

/// Sets the addresses of the AOVs that display pixels are computed from. `values` returns an AOV's address, or null.
pub fn aim_display(
    film: &mut FilmParams,
    (transparent, draws_edges): (bool, bool),
    values: impl Fn(Aov) -> *const f32,
) {
    film.shadow = values(Aov::Shadow);
    if draws_edges {
        film.wireframe = values(Aov::Wireframe);
    }
    if transparent {
        film.alpha = values(Aov::Alpha);
    }
}

/// Camera poses over the shutter interval, for `KeyParams::cameras`; empty if the camera stands still.
pub fn camera_keys(frame: &Frame, settings: &FrameSettings) -> Vec<CameraRecord> {
    let record = |pose| camera_record(pose, settings.aspect());
    frame.camera_keys.iter().map(record).collect()
}

/// Mesh keys over the shutter interval, for `KeyParams::meshes`; empty if no mesh deforms.
pub fn mesh_keys(frame: &Frame) -> Vec<MeshKeys> {
    if frame.blas.iter().any(|blas| blas.segments() > 0) {
        frame.blas.iter().map(|blas| blas.keys()).collect()
    } else {
        Vec::new()
    }
}

/// Work items per tile.
pub const TILE_ITEMS: u32 = 64;

/// Number of work items of a picture: 64 for each 8×8 tile, including tiles that extend past the edge.
///
/// # Errors
/// If the number does not fit into 32 bits.
pub fn pixel_items(settings: &FrameSettings) -> Result<u32, DeviceError> {
    let (width, height) = settings.film_size();
    let tiles = u64::from(width.div_ceil(8)) * u64::from(height.div_ceil(8));
    u32::try_from(tiles * u64::from(TILE_ITEMS))
        .map_err(|_| DeviceError::Failed(format!("{width} × {height} is too large a picture")))
}

/// The integrator's number in `PictureParams`.
fn integrator_number(integrator: Integrator) -> u32 {
    match integrator {
        // Clay is implemented by the frame's materials.
        Integrator::Path | Integrator::Clay => abi::INTEGRATOR_PATH,
        Integrator::Whitted => abi::INTEGRATOR_WHITTED,
        Integrator::Ao => abi::INTEGRATOR_AO,
        Integrator::Normal => abi::INTEGRATOR_NORMAL,
        Integrator::Depth => abi::INTEGRATOR_DEPTH,
        Integrator::Albedo => abi::INTEGRATOR_ALBEDO,
        Integrator::Instance => abi::INTEGRATOR_INSTANCE,
        Integrator::Steps => abi::INTEGRATOR_STEPS,
        Integrator::Uv => abi::INTEGRATOR_UV,
        Integrator::Material => abi::INTEGRATOR_MATERIAL,
        Integrator::Wireframe => abi::INTEGRATOR_WIREFRAME,
    }
}

/// Light is tone mapped; occlusion and albedo are encoded but not tone mapped; the other views are display values.
fn tone_map(settings: &FrameSettings) -> u32 {
    match settings.integrator.shows() {
        Shows::Radiance => tone_code(settings.tone_map),
        Shows::Linear => abi::TONE_NONE,
        Shows::Display => abi::TONE_DISPLAY,
    }
}

/// The kernels' constant for a tone curve.
pub fn tone_code(tone_map: ToneMap) -> u32 {
    match tone_map {
        ToneMap::Aces => abi::TONE_ACES,
        ToneMap::Agx => abi::TONE_AGX,
        ToneMap::PbrNeutral => abi::TONE_PBR_NEUTRAL,
        ToneMap::None => abi::TONE_NONE,
    }
}

/// The group of units at which traversals begin (`Group` in `traverse_compressed.h`): the root or, if the root contains a single instance only, that
/// instance.
fn start_group(units: &[Unit]) -> (u32, u32) {
    const ROOT: (u32, u32) = (0, 1 << 24);
    let Some(root) = units.first() else {
        return ROOT;
    };
    let root: CompressedNode = bytemuck::cast(*root);
    match root.units.count_ones() {
        1 if root.instances == root.units => {
            let slot = u32::from(root.units);
            (root.unit_base, slot << 24 | slot << 8 | slot)
        }
        _ => ROOT,
    }
}

/// Distance from the eye to the farthest corner of the scene.
fn depth_range(bounds: &Aabb, eye: Vec3) -> f32 {
    if bounds.is_empty() { 1.0 } else { bounds.corners().iter().map(|c| c.distance(eye)).fold(1e-30, f32::max) }
}

/// Camera record for a picture with this aspect ratio (width / height).
pub fn camera_record(pose: &CameraPose, aspect: f32) -> CameraRecord {
    let (forward, right, up) = pose.basis();
    let (rows, columns) = pose.rows_and_columns();
    let of_height = |height: f32| [height * aspect, height];
    let scale = pose.intrinsics.map_or([1.0; 2], |own| [0.5 / own.focal.x, 0.5 / own.focal.y]);
    let lens = pose.intrinsics.map(|own| own.distortion);
    let ([width, height], kind) = match (pose.projection, lens) {
        (Projection::Perspective { .. }, Some(Distortion::None)) => (scale, abi::CAMERA_PERSPECTIVE),
        (Projection::Perspective { .. }, Some(Distortion::Rational { .. })) => ([1.0; 2], abi::CAMERA_RATIONAL),
        (Projection::Perspective { .. }, Some(Distortion::Fisheye { .. })) => ([1.0; 2], abi::CAMERA_FISHEYE),
        (Projection::Perspective { fov_y }, None) => {
            let kind = if pose.skewed.is_some() { abi::CAMERA_SKEWED } else { abi::CAMERA_PERSPECTIVE };
            (of_height((0.5 * fov_y).tan()), kind)
        }
        (Projection::Orthographic { height }, _) => (of_height(0.5 * height), abi::CAMERA_ORTHOGRAPHIC),
        (Projection::Equirectangular, _) => ([1.0; 2], abi::CAMERA_EQUIRECTANGULAR),
    };
    let distortion = match lens {
        Some(Distortion::Rational { k: [k1, k2, k3, k4, k5, k6], p: [p1, p2] }) => [k1, k2, k3, k4, k5, k6, p1, p2],
        Some(Distortion::Fisheye { k: [k1, k2, k3, k4] }) => [k1, k2, k3, k4, 0.0, 0.0, 0.0, 0.0],
        Some(Distortion::None) | None => [0.0; 8],
    };
    let pinhole = CameraRecord {
        origin: pose.eye.into(),
        forward: forward.into(),
        right: (rows * width).into(),
        up: (columns * height).into(),
        kind,
        focus: 0.0,
        lens_right: [0.0; 3],
        lens_up: [0.0; 3],
        blades: 0,
        blade_turn: 0.0,
        shift: pose.half_shift(aspect).into(),
        scale,
        distortion,
    };
    let Some(lens) = pose.lens else {
        return pinhole;
    };
    CameraRecord {
        focus: lens.focus,
        lens_right: (right * (lens.radius / lens.iris.ratio)).into(),
        lens_up: (up * lens.radius).into(),
        blades: if lens.iris.blades < 3 { 0 } else { lens.iris.blades },
        blade_turn: (lens.iris.rotation / TAU).rem_euclid(1.0),
        ..pinhole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrators_are_numbered_without_gaps() {
        let all = Integrator::ALL.iter().filter(|&&integrator| integrator != Integrator::Clay);
        let mut numbers: Vec<u32> = all.map(|&integrator| integrator_number(integrator)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..abi::INTEGRATOR_COUNT).collect::<Vec<_>>());
    }
}
