//! Kernel launches on the CPU: parameters that point into host memory, and the data that must stay alive during a launch.

use super::{kernels::Kernel, watch::watched};
use crate::{
    Frame, FrameSettings, OtherPose, PosedMesh, RayCounts, Stop,
    light::{LocalTree, no_local_lights, sun_count, sun_irradiance},
    records::{
        attributes, frame_aovs,
        material_tables::{self, MaterialTables},
        params::{camera_keys, display_params, film_params, frame_params, mesh_keys, picture_params},
        pool::Pool,
        tables::{Tables, write_shape},
    },
};
use bytemuck::Zeroable;
use rayon::prelude::*;
use std::{
    cell::UnsafeCell,
    marker::PhantomData,
    ptr::null,
    sync::{Arc, atomic::AtomicU32},
};
use throng_abi::{
    self as abi, BlasRecord, CameraRecord, CurvePoint, KeyParams, MAX_INTERLEAVED, MeshKeys, MeshRecord, OtherFrame,
    PacketEntry, Params, SceneParams, StackEntry, TableParams, TextureRecord, Thread, TreeParams, VertexAttributes,
    VertexRecord,
};
use throng_accel::{Blas, BlasShape, Nested, Packs, shape_of};
use throng_picture::film::FILTER_TABLES;
use throng_scene::Shape;

/// A frame's own tables of materials and lights, if they differ from the scene's, and the tree over the lights inside the scene.
#[derive(Default)]
pub struct Shining {
    pub posed: Option<MaterialTables>,
    pub local: Option<Arc<LocalTree>>,
}

/// Traversal stacks of one thread.
pub struct Stacks {
    /// Stacks of equal size, one per interleaved ray.
    pub rays: Vec<StackEntry>,
    pub packets: Vec<PacketEntry>,
}

/// Launch parameters together with the data that they point to.
pub struct Launch<'a> {
    pub params: Params,
    stack_entries: usize,
    packet_entries: usize,
    /// Number of rays that one thread interleaves.
    interleaved: usize,
    _blas: Vec<BlasRecord>,
    _pool: Pool,
    _shapes: Shapes,
    _posed: Option<MaterialTables>,
    _textures: Vec<TextureRecord>,
    _lights: Option<Arc<LocalTree>>,
    camera_keys: Vec<CameraRecord>,
    _mesh_keys: Vec<MeshKeys>,
    /// The scene's tables and the frame, to which the parameters also point.
    _reads: PhantomData<(&'a Tables, &'a Frame)>,
}

/// The parameters of a running launch.
struct Running(UnsafeCell<Params>);

// SAFETY: the parameters point to data that `Launch` shares. Only `detour` changes, by atomic operations here and in kernels.
unsafe impl Sync for Running {}

impl Running {
    fn params(&self) -> *const Params {
        self.0.get()
    }

    /// The mode in which traversals enter instances; it may change while kernels run.
    fn detour(&self) -> &AtomicU32 {
        // SAFETY: the field is aligned, lives as long as `self`, and is accessed by atomic operations only.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.0.get()).trees.detour) }
    }
}

/// The mesh table of a frame with deformed meshes, and the vertices of those meshes; empty if no mesh deforms.
#[derive(Default)]
pub struct Shapes {
    meshes: Vec<MeshRecord>,
    _vertices: Vec<(Vec<VertexRecord>, Vec<VertexAttributes>)>,
    _points: Vec<Vec<CurvePoint>>,
}

impl Shapes {
    pub fn new(tables: &Tables, shapes: &[PosedMesh]) -> Self {
        if shapes.is_empty() {
            return Self::default();
        }
        let mut meshes = tables.meshes.clone();
        let vertices = shapes.iter().filter_map(|posed| {
            let mesh = tables.scene.meshes[posed.mesh as usize].triangles()?;
            let count = mesh.positions.len();
            let keys = 1 + posed.later.len();
            let mut vertices = vec![VertexRecord::default(); keys * count];
            for (shape, out) in posed.keys().zip(vertices.chunks_mut(count.max(1))) {
                write_shape(mesh, shape, out);
            }
            let record = &mut meshes[posed.mesh as usize];
            record.vertices = vertices.as_ptr();
            let mut turned = Vec::new();
            if tables.needs[posed.mesh as usize].tangents {
                turned.resize(keys * count, VertexAttributes::default());
                for (shape, out) in posed.keys().zip(turned.chunks_mut(count.max(1))) {
                    attributes::write(mesh, shape, out);
                }
                record.attributes = turned.as_ptr();
            }
            Some((vertices, turned))
        });
        let vertices = vertices.collect();
        let points = shapes.iter().filter_map(|posed| {
            let Shape::Curves(curves) = &tables.scene.meshes[posed.mesh as usize].shape else { return None };
            let points = posed.keys().flat_map(|shape| curves.posed_points(&shape.positions));
            let points: Vec<_> = points.collect();
            meshes[posed.mesh as usize].vertices = points.as_ptr().cast();
            Some(points)
        });
        let points = points.collect();
        Self { meshes, _vertices: vertices, _points: points }
    }

    /// The mesh table, or the scene's own if no mesh deforms.
    fn meshes_or<'a>(&'a self, tables: &'a Tables) -> &'a [MeshRecord] {
        if self.meshes.is_empty() { &tables.meshes } else { &self.meshes }
    }
}

/// The data that kernels read of a neighbouring frame.
pub struct Elsewhere<'a> {
    pose: &'a OtherPose,
    transforms: Vec<[f32; 12]>,
    shapes: Shapes,
}

impl<'a> Elsewhere<'a> {
    pub fn new(tables: &Tables, pose: &'a OtherPose) -> Self {
        Self { pose, transforms: frame_aovs::transforms(pose), shapes: Shapes::new(tables, &pose.shapes) }
    }

    pub fn apply(&self, record: &mut OtherFrame, tables: &Tables) {
        if !self.transforms.is_empty() {
            record.transforms = self.transforms.as_ptr().cast();
        }
        if let Some(places) = &self.pose.places {
            record.places = places.as_ptr();
        }
        if !self.pose.shown.is_empty() {
            record.shown = self.pose.shown.as_ptr();
        }
        record.meshes = self.shapes.meshes_or(tables).as_ptr();
    }
}

// SAFETY: kernels only read the data behind the parameters. The exceptions are film, pixels, errors, AOVs, hits and work, of which each item has its
// own.
unsafe impl Sync for Launch<'_> {}

impl<'a> Launch<'a> {
    /// The launch of a kernel that reads only its parameters and a film.
    pub fn of(params: Params) -> Self {
        Self {
            params,
            stack_entries: 0,
            packet_entries: 0,
            interleaved: 1,
            _blas: Vec::new(),
            _pool: Pool::new(&[]),
            _shapes: Shapes::default(),
            _posed: None,
            _textures: Vec::new(),
            _lights: None,
            camera_keys: Vec::new(),
            _mesh_keys: Vec::new(),
            _reads: PhantomData,
        }
    }

    /// The launch of a kernel for a frame. Single rays are interleaved if the TLAS is larger than `cached_tlas` bytes.
    pub fn new(tables: &'a Tables, frame: &'a Frame, shining: Shining, cached_tlas: usize) -> Self {
        let interleaved = if frame.tlas.bytes() > cached_tlas { MAX_INTERLEAVED as usize } else { 1 };
        let nested = frame.tlas.nested.as_ref();
        let deepest = frame.blas.iter().map(|b| b.stack_entries()).max().unwrap_or(0);
        let pool = Pool::new(&frame.blas);
        let shapes = Shapes::new(tables, &frame.shapes);
        let meshes = shapes.meshes_or(tables);
        let blas = frame.blas.iter().enumerate().map(|(i, blas)| blas_record(blas, meshes.get(i), nested));
        let blas: Vec<BlasRecord> = blas.collect();
        let Shining { posed, local } = shining;
        let own_sky = posed.as_ref().and_then(|posed| posed.sky.as_deref());
        let sky = own_sky.unwrap_or(&tables.sky);
        let textures = own_sky.map_or_else(Vec::new, |sky| tables.textures_with(sky));
        let has_mips = tables.has_mips() || textures.iter().any(|texture| texture.levels > 1);
        let mesh_keys = mesh_keys(frame);
        let params = Params {
            scene: SceneParams {
                material_slots: tables.scene.material_slots.as_ptr(),
                textures: if own_sky.is_some() { textures.as_ptr() } else { tables.textures.as_ptr() },
                srgb_table: tables.srgb.as_ptr(),
                filter_tables: FILTER_TABLES.as_ptr(),
                sky_rows: sky.table.rows.as_ptr(),
                sky_cells: sky.table.cells.as_ptr(),
                environment: sky.environment,
                stage: tables.scene.stage.unwrap_or(abi::NO_INDEX),
            },
            tables: table_params(tables, &shapes, posed.as_ref(), has_mips),
            trees: tree_params(frame, &blas, &pool),
            keys: KeyParams {
                cameras: null(),
                instances: frame.tlas.shutter.keys.as_ptr(),
                meshes: match &mesh_keys[..] {
                    [] => null(),
                    keys => keys.as_ptr(),
                },
                camera_segments: 0,
            },
            local_lights: local.as_ref().map_or_else(no_local_lights, |local| local.params_here()),
            frame: frame_params(frame),
            picture: Zeroable::zeroed(),
            display: Zeroable::zeroed(),
            film: Zeroable::zeroed(),
            query: Zeroable::zeroed(),
            denoise: null(),
        };
        Self {
            params,
            stack_entries: frame.tlas.tree.stack_entries() + deepest,
            packet_entries: frame.tlas.tree.stack_entries() + deepest,
            interleaved,
            _blas: blas,
            _pool: pool,
            _shapes: shapes,
            _posed: posed,
            _textures: textures,
            _lights: local,
            camera_keys: Vec::new(),
            _mesh_keys: mesh_keys,
            _reads: PhantomData,
        }
    }

    /// Runs `kernel` over `count` items in batches of `batch` on all threads, until all are done or `stop` returns true. A stop also ends running
    /// batches and traversals; results are undefined then.
    ///
    /// # Safety
    /// All data that the kernel reads must be valid, and each item must have its own memory for the kernel's results.
    pub unsafe fn run(&self, kernel: Kernel, count: u32, batch: u32, stop: &Stop) -> RayCounts {
        // SAFETY: guaranteed by the caller.
        unsafe { self.run_counted(kernel, count, batch, &|| (), stop) }
    }

    /// Like [`Self::run`], and calls `begun` at the start of each batch.
    ///
    /// # Safety
    /// As for [`Self::run`].
    pub unsafe fn run_counted(
        &self,
        kernel: Kernel,
        count: u32,
        batch: u32,
        begun: &(dyn Fn() + Sync),
        stop: &Stop,
    ) -> RayCounts {
        let running = Running(UnsafeCell::new(self.params));
        let batches = (0..count.div_ceil(batch)).into_par_iter();
        let run = |stacks: &mut Stacks, index: u32| {
            let mut thread = Thread {
                stack: stacks.rays.as_mut_ptr(),
                packet_stack: stacks.packets.as_mut_ptr(),
                stack_entries: self.stack_entries as u32,
                stacks: self.interleaved as u32,
                primary_rays: 0,
                bounce_rays: 0,
                shadow_rays: 0,
            };
            begun();
            if !stop() {
                let begin = index * batch;
                // SAFETY: the launch keeps its data alive, batches have disjoint items, and the stacks have as many entries as the trees need.
                unsafe { kernel(running.params(), begin, count.min(begin + batch), &mut thread) };
            }
            RayCounts { primary: thread.primary_rays, bounce: thread.bounce_rays, shadow: thread.shadow_rays }
        };
        watched(stop, running.detour(), abi::DETOUR_ENDS, || {
            let counts = batches.map_init(|| self.stacks(), run);
            counts.reduce(RayCounts::default, |mut sum, batch| {
                sum += batch;
                sum
            })
        })
    }

    /// Allocates the stacks that one thread needs for the frame's trees.
    pub fn stacks(&self) -> Stacks {
        let none = StackEntry { reference: 0, t: 0.0 };
        Stacks {
            rays: vec![none; self.stack_entries * self.interleaved],
            packets: vec![PacketEntry::default(); self.packet_entries],
        }
    }

    /// Sets the parameters that depend on the picture's settings.
    pub fn apply(&mut self, frame: &Frame, settings: &FrameSettings) {
        self.params.picture = picture_params(frame, settings);
        self.params.display = display_params(settings);
        self.params.film = film_params(settings);
        self.params.frame.moves = frame.moves().into();
        self.camera_keys = camera_keys(frame, settings);
        self.params.keys.cameras = self.camera_keys.as_ptr();
        self.params.keys.camera_segments = self.camera_keys.len().saturating_sub(1) as u32;
    }
}

/// The trees of a frame.
fn tree_params(frame: &Frame, blas: &[BlasRecord], pool: &Pool) -> TreeParams {
    let nested = frame.tlas.nested.as_ref();
    TreeParams {
        tlas_nodes: frame.tlas.tree.nodes.address().cast(),
        blas: blas.as_ptr(),
        tlas_units: frame.tlas.units.as_ptr(),
        blas_units: pool.units.as_ptr(),
        leaves: pool.leaves.as_ptr(),
        instances: frame.tlas.records.as_ptr(),
        levels: nested.map_or(null(), |nested| nested.levels.as_ptr()),
        numbers: nested.map_or(null(), |nested| nested.numbers.of.as_ptr()),
        records_of: nested.map_or(null(), |nested| nested.records_of.as_ptr()),
        indices: nested.map_or(null(), |nested| nested.indices.as_ptr()),
        shares_numbers: nested.is_some_and(|nested| nested.numbers.shared).into(),
        detour: if nested.is_some() { abi::DETOUR_NESTED } else { abi::DETOUR_NONE },
    }
}

/// The tables of a frame: the scene's, unless `shapes` or `posed` replace them.
fn table_params(tables: &Tables, shapes: &Shapes, posed: Option<&MaterialTables>, has_mips: bool) -> TableParams {
    let (materials, lobes, maps, lights) = match posed {
        Some(own) => (&own.materials, &own.lobes, &own.maps, &own.lights),
        None => (&tables.materials, &tables.lobes, &tables.maps, &tables.lights),
    };
    TableParams {
        meshes: shapes.meshes_or(tables).as_ptr(),
        materials: materials.as_ptr(),
        lobes: lobes.as_ptr(),
        maps: maps.as_ptr(),
        lights: lights.as_ptr(),
        lobes_count: lobes.len() as u32,
        light_count: lights.len() as u32,
        sun_count: sun_count(lights),
        sun_irradiance: sun_irradiance(lights),
        has_cutouts: material_tables::cutouts(materials),
        sorts_shading: 0,
        has_panes: material_tables::has_panes(materials, lobes).into(),
        has_mips: has_mips.into(),
    }
}

/// `mesh` is the mesh of the tree, or none for an assembly.
fn blas_record(blas: &Blas, mesh: Option<&MeshRecord>, nested: Option<&Nested>) -> BlasRecord {
    let sphere = BlasRecord {
        nodes: null(),
        packs: null(),
        points: null(),
        magnitude: blas.bounds.magnitude(),
        root: abi::EMPTY_CHILD,
        shape: abi::SHAPE_SPHERE,
        leaf_width: 0.0,
        first_record: 0,
        reserved: 0,
    };
    match &blas.shape {
        BlasShape::Sphere | BlasShape::Compressed { .. } | BlasShape::CompressedCurves { .. } => sphere,
        BlasShape::Curves { tree, packs, profile } => BlasRecord {
            nodes: tree.nodes.address().cast(),
            packs: packs.as_ptr().cast(),
            points: mesh.map_or_else(null, |mesh| mesh.vertices.cast()),
            root: tree.root,
            shape: shape_of(*profile),
            ..sphere
        },
        BlasShape::Assembly(assembly) => BlasRecord {
            nodes: assembly.tlas.tree.nodes.address().cast(),
            root: assembly.tlas.tree.root,
            shape: abi::SHAPE_ASSEMBLY,
            first_record: nested.map_or(0, |nested| nested.levels[assembly.number as usize + 1].first_record),
            ..sphere
        },
        BlasShape::Triangles { tree, packs } => BlasRecord {
            nodes: tree.nodes.address().cast(),
            packs: packs.address().cast(),
            // Estimate: leaves that cover a mesh once have a total area equal to the area of the mesh's bounds.
            leaf_width: (blas.bounds.half_area() / packs.count() as f32).sqrt(),
            root: tree.root,
            shape: match packs {
                Packs::Eight(_) => abi::SHAPE_TRIANGLES,
                Packs::Shared(_) => abi::SHAPE_SHARED_TRIANGLES,
            },
            ..sphere
        },
    }
}
