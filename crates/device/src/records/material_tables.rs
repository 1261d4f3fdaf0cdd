//! Materials in the layout that kernels read, and the tables of frames with their own materials, lights or environment.
//!
//! `PosedCache` rebuilds the tables of a sky only when the sky changes, and those of emissive meshes only when a material's emission changes.

use super::tables::Sky;
use crate::light::{Emitters, emission_weights, light_records};
use std::sync::Arc;
use throng_abi::{self as abi, LightRecord, LobesRecord, MapRecord, MaterialRecord, NO_INDEX};
use throng_scene::anim::PosedTables;
use throng_scene::{Alpha, Environment, Material, MaterialKind, TextureMap, ToCamera};

/// Tables of a frame whose materials, lights or environment differ from the scene's.
#[derive(Default)]
pub struct MaterialTables {
    pub materials: Vec<MaterialRecord>,
    pub lobes: Vec<LobesRecord>,
    pub maps: Vec<MapRecord>,
    pub lights: Vec<LightRecord>,
    /// The environment, if it differs from the scene's.
    pub sky: Option<Arc<Sky>>,
}

impl MaterialTables {
    /// `weights` are the materials' emission weights for light sampling (see `MaterialRecord::emission_weight`).
    pub fn new(tables: &PosedTables, weights: &[f32], sky: Option<Arc<Sky>>) -> Self {
        let (materials, lobes) = material_records(&tables.materials, weights);
        Self {
            materials,
            lobes,
            maps: tables.maps.iter().map(map_record).collect(),
            lights: light_records(&tables.lights),
            sky,
        }
    }
}

/// The emission weights and the sky of frames with their own tables, kept as long as they do not change.
#[derive(Default)]
pub struct PosedCache {
    emitters: Option<Arc<Emitters>>,
    sky: Option<(Arc<Environment>, Arc<Sky>)>,
}

impl PosedCache {
    /// The emitters of a frame; `usual` are the scene's emitters.
    pub fn emitters(&mut self, usual: &Arc<Emitters>, posed: Option<&PosedTables>) -> Arc<Emitters> {
        let Some(posed) = posed.filter(|posed| !posed.keeps_emission) else {
            return usual.clone();
        };
        let weights = emission_weights(usual.scene(), &posed.materials);
        if let Some(last) = self.emitters.as_ref().filter(|last| last.weights() == weights) {
            return last.clone();
        }
        let emitters = Arc::new(Emitters::new(usual.scene().clone(), weights));
        self.emitters = Some(emitters.clone());
        emitters
    }

    /// The frame's own sky; `None` if it is the scene's. `textures` is the number of the scene's textures.
    pub fn sky(&mut self, posed: &PosedTables, textures: usize) -> Option<Arc<Sky>> {
        let environment = posed.environment.as_ref()?;
        if let Some((_, sky)) = self.sky.as_ref().filter(|(last, _)| Arc::ptr_eq(last, environment)) {
            return Some(sky.clone());
        }
        let sky = Arc::new(Sky::new(environment, textures as u32));
        self.sky = Some((environment.clone(), sky.clone()));
        Some(sky)
    }
}

/// The records of all materials with the given emission weights, and the lobes of layered materials and hair.
pub fn material_records(materials: &[Material], weights: &[f32]) -> (Vec<MaterialRecord>, Vec<LobesRecord>) {
    let mut lobes = Vec::new();
    let record =
        |(m, &weight): (&Material, &f32)| MaterialRecord { emission_weight: weight, ..material_record(m, &mut lobes) };
    let records = materials.iter().zip(weights).map(record).collect();
    (records, lobes)
}

fn material_record(m: &Material, lobes: &mut Vec<LobesRecord>) -> MaterialRecord {
    let (kind, index) = match m.kind {
        MaterialKind::Diffuse => (abi::MATERIAL_DIFFUSE, NO_INDEX),
        MaterialKind::Mirror => (abi::MATERIAL_MIRROR, NO_INDEX),
        MaterialKind::Layered => (abi::MATERIAL_LAYERED, add(lobes, m.lobes)),
        MaterialKind::Hair => (abi::MATERIAL_HAIR, add(lobes, m.lobes)),
    };
    MaterialRecord {
        color: m.color.into(),
        color_map: m.color_map,
        emission: m.emission.into(),
        emission_map: m.emission_map,
        kind,
        flags: flags(m),
        lobes: index,
        opacity: m.opacity,
        alpha_cutoff: match m.alpha {
            Alpha::Mask(cutoff) => cutoff,
            Alpha::Opaque | Alpha::Blend => 0.0,
        },
        emission_weight: 0.0,
        reserved: [0; 2],
    }
}

/// Adds an entry to a table, and returns its index.
fn add(lobes: &mut Vec<LobesRecord>, more: LobesRecord) -> u32 {
    lobes.push(more);
    lobes.len() as u32 - 1
}

fn flags(m: &Material) -> u32 {
    let facts = [
        (m.is_polished(), abi::SURFACE_POLISHED),
        (m.unlit, abi::SURFACE_UNLIT),
        (m.one_sided || m.is_culled(), abi::SURFACE_ONE_SIDED),
        (m.is_culled(), abi::SURFACE_CULLED),
        (m.is_culled() && !m.encloses, abi::SURFACE_PASSES_LIGHT),
        (m.double_sided, abi::SURFACE_DOUBLE_SIDED),
        (m.to_camera == ToCamera::Holdout, abi::SURFACE_HOLDOUT),
        (m.to_camera == ToCamera::ShadowCatcher, abi::SURFACE_SHADOW_CATCHER),
        (matches!(m.alpha, Alpha::Mask(_)), abi::SURFACE_MASK),
        (m.alpha == Alpha::Blend, abi::SURFACE_BLEND),
        (m.maps().iter().any(|&map| map != NO_INDEX), abi::SURFACE_MAPPED),
    ];
    let set = facts.into_iter().filter(|(holds, _)| *holds);
    set.map(|(_, flag)| flag).sum()
}

/// Reasons for which rays may pass straight through some of the materials, as a sum of `CUTOUT_*`.
pub fn cutouts(materials: &[MaterialRecord]) -> u32 {
    let flags = materials.iter().fold(0, |flags, m| flags | m.flags);
    let holes = flags & (abi::SURFACE_MASK | abi::SURFACE_BLEND) != 0;
    let backs = flags & abi::SURFACE_CULLED != 0;
    let light = flags & abi::SURFACE_PASSES_LIGHT != 0;
    (u32::from(holes) * abi::CUTOUT_HOLES)
        | (u32::from(backs) * abi::CUTOUT_BACKS)
        | (u32::from(light) * abi::CUTOUT_LIGHT)
}

/// Roughness at which an interface always counts as rough; slightly above the limit of `is_smooth` in `closure/microfacet.h`.
const ROUGH: f32 = 0.023;

/// Whether some material may let light pass straight through, like thin smooth glass.
pub fn has_panes(materials: &[MaterialRecord], lobes: &[LobesRecord]) -> bool {
    let may_be_smooth = |l: &LobesRecord| l.roughness < ROUGH || l.metallic_roughness_map != NO_INDEX;
    let is_pane = |l: &LobesRecord| l.thin != 0 && l.transmission > 0.0 && may_be_smooth(l);
    materials.iter().any(|m| m.kind == abi::MATERIAL_LAYERED && lobes.get(m.lobes as usize).is_some_and(is_pane))
}

/// Whether the materials have more than one of the classes by which wavefront shading is sorted (`shading_class` in append.h).
#[cfg_attr(not(throng_cuda), expect(dead_code, reason = "the CPU shades ray by ray"))]
pub fn shading_differs(materials: &[MaterialRecord], lobes: &[LobesRecord]) -> bool {
    let class = |material: &MaterialRecord| {
        let layered = lobes.get(material.lobes as usize);
        match (material.kind, layered) {
            (abi::MATERIAL_HAIR, _) => 5,
            (abi::MATERIAL_LAYERED, Some(l)) if l.transmission > 0.0 => 4,
            (abi::MATERIAL_LAYERED, Some(l)) if l.metallic > 0.5 => 3,
            (abi::MATERIAL_LAYERED, _) => 2,
            (abi::MATERIAL_MIRROR, _) => 0,
            _ => 1,
        }
    };
    let mut classes = materials.iter().map(class);
    let first = classes.next();
    classes.any(|class| Some(class) != first)
}

pub fn map_record(map: &TextureMap) -> MapRecord {
    let (x, y, t) = (map.transform.matrix2.x_axis, map.transform.matrix2.y_axis, map.transform.translation);
    MapRecord { transform: [x.x, y.x, t.x, x.y, y.y, t.y], texture: map.texture, uv_set: map.uv_set }
}
