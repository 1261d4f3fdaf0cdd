//! Optional vertex attributes: tangents, colours and a second set of texture coordinates. Meshes get records for them only if the picture depends on
//! them.

use rayon::prelude::*;
use throng_abi::{self as abi, VertexAttributes};
use throng_scene::anim::Deformed;
use throng_scene::{Curves, Mesh, Scene, Shape, TriangleMesh, VertexDemand};

/// The optional vertex attributes that a mesh has and its materials use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// A material has a normal map or is anisotropic, and the mesh has tangents.
    pub tangents: bool,
    /// The mesh has colours other than white.
    pub colors: bool,
    /// A material reads the second set of texture coordinates, and the mesh has one.
    pub uvs1: bool,
}

impl Needs {
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// The needs as `abi::MESH_*` flags.
    pub fn flags(self) -> u32 {
        let flag = |needed: bool, flag: u32| if needed { flag } else { 0 };
        flag(self.tangents, abi::MESH_TANGENTS) | flag(self.colors, abi::MESH_COLORS) | flag(self.uvs1, abi::MESH_UV1)
    }
}

/// Returns the needs of each mesh of `scene`; spheres need none. The texture coordinates of curves are stored as second ones.
pub fn needs(scene: &Scene) -> Vec<Needs> {
    let has = |mesh: &TriangleMesh, demand: &VertexDemand| Needs {
        tangents: demand.tangents.is_some() && !mesh.tangents.is_empty(),
        colors: are_colored(&mesh.colors),
        uvs1: demand.uvs1 && !mesh.uvs1.is_empty(),
    };
    let meshes = scene.meshes.par_iter().zip(scene.vertex_demands());
    let of_mesh = |(mesh, demand): (&Mesh, VertexDemand)| match &mesh.shape {
        Shape::Triangles(mesh) => has(mesh, &demand),
        Shape::Curves(curves) => {
            Needs { tangents: false, colors: are_colored(&curves.colors), uvs1: !curves.uvs.is_empty() }
        }
        Shape::Sphere => Needs::default(),
    };
    meshes.map(of_mesh).collect()
}

fn are_colored(colors: &[[f32; 4]]) -> bool {
    colors.iter().any(|color| *color != [1.0; 4])
}

/// Returns one record per point; empty if the curves need none.
pub fn of_curves(curves: &Curves, needs: Needs) -> Vec<VertexAttributes> {
    if !needs.any() {
        return Vec::new();
    }
    let record = |point| VertexAttributes {
        color: curves.colors.get(point).copied().unwrap_or([1.0; 4]),
        uv1: curves.uvs.get(point).copied().unwrap_or_default(),
        ..VertexAttributes::default()
    };
    (0..curves.points.len()).into_par_iter().map(record).collect()
}

/// Returns one record per vertex; empty if the mesh needs none.
pub fn records(mesh: &TriangleMesh, needs: Needs) -> Vec<VertexAttributes> {
    if !needs.any() {
        return Vec::new();
    }
    let vertices = (0..mesh.positions.len()).into_par_iter();
    vertices.map(|vertex| record(mesh, &mesh.tangents, vertex)).collect()
}

/// Writes the records of a mesh in its shape of a frame to `out`, which must have one element per vertex.
pub fn write(mesh: &TriangleMesh, shape: &Deformed, out: &mut [VertexAttributes]) {
    let places = out.par_iter_mut().enumerate().with_min_len(4096);
    places.for_each(|(vertex, out)| *out = record(mesh, &shape.tangents, vertex));
}

fn record(mesh: &TriangleMesh, tangents: &[[f32; 4]], vertex: usize) -> VertexAttributes {
    VertexAttributes {
        tangent: tangents.get(vertex).copied().unwrap_or_default(),
        color: mesh.colors.get(vertex).copied().unwrap_or([1.0; 4]),
        uv1: mesh.uvs1.get(vertex).copied().unwrap_or_default(),
        reserved: [0; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Affine3;
    use throng_scene::{
        Instance, Lobes, Material, MaterialKind, NONE, TextureMap,
        rig::{Palette, PoseBuckets},
    };

    /// A scene with a mesh that has all attributes and uses `material`.
    fn scene(material: Material) -> Scene {
        let triangles = TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            uvs1: vec![[0.5; 2]; 3],
            tangents: vec![[1.0, 0.0, 0.0, 1.0]; 3],
            ..TriangleMesh::default()
        };
        let mesh = Mesh { name: "m".into(), shape: Shape::Triangles(triangles), slot_count: 1 };
        Scene {
            meshes: vec![mesh.clone(), mesh],
            materials: vec![Material::default(), material],
            maps: vec![TextureMap { uv_set: 1, ..TextureMap::plain(0) }],
            material_slots: vec![0, 1],
            instances: vec![Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 1, motion: NONE }],
            ..Scene::default()
        }
    }

    fn layered(lobes: Lobes) -> Material {
        Material { kind: MaterialKind::Layered, lobes, ..Material::default() }
    }

    #[test]
    fn vertices_have_records_only_where_a_material_uses_them() {
        assert!(!needs(&scene(Material::default()))[0].any());
        let normal_map = layered(Lobes { normal_map: 0, ..Lobes::default() });
        let both = needs(&scene(normal_map))[0];
        assert!(both.tangents && both.uvs1 && !both.colors);
        let brushed = layered(Lobes { anisotropy: 0.5, ..Lobes::default() });
        let found = needs(&scene(brushed));
        assert!(found[0].tangents && !found[0].uvs1);
        assert!(!found[1].any(), "no instance shows it");
    }

    #[test]
    fn white_vertices_need_no_colours_and_others_do() {
        let mut scene = scene(Material::default());
        for (color, needed) in [([1.0; 4], false), ([1.0, 1.0, 1.0, 0.5], true)] {
            if let Shape::Triangles(mesh) = &mut scene.meshes[0].shape {
                mesh.colors = vec![color; 3];
            }
            assert_eq!(needs(&scene)[0].colors, needed);
        }
    }

    #[test]
    fn all_poses_of_a_palette_need_what_the_first_does() {
        let mut scene = scene(layered(Lobes { normal_map: 0, ..Lobes::default() }));
        scene.palettes = vec![Palette { first_mesh: 0, poses: PoseBuckets { count: 2, duration: 1.0 } }];
        let needs = needs(&scene);
        assert!(needs[0].tangents && needs[0] == needs[1]);
    }

    #[test]
    fn a_deformed_mesh_keeps_its_colours_and_turns_its_tangents() {
        let scene = scene(Material::default());
        let mesh = scene.meshes[0].triangles().expect("triangles");
        let shape = Deformed { tangents: vec![[0.0, 1.0, 0.0, -1.0]; 3], ..Deformed::default() };
        let mut out = vec![VertexAttributes::default(); 3];
        write(mesh, &shape, &mut out);
        assert_eq!(out[2].tangent, [0.0, 1.0, 0.0, -1.0]);
        assert_eq!((out[2].color, out[2].uv1), ([1.0; 4], [0.5; 2]));
    }
}
