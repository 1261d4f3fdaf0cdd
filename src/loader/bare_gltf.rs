//! A glTF file on its own, at rest: its geometry as instances, its base colours and emission as materials of the renderer.

use super::{
    LoadError, bare,
    gltf::{self, GltfOptions, Model, Part, PbrMaterial, TextureRef},
    materials::{Materials, Slots},
    transform::is_invertible,
};
use crate::{
    anim::{BindPose, Deformed, RigPose, deform},
    scene::{Instance, Material, MaterialKind, Mesh, NONE, Scene, Shape, TriangleMesh},
};
use glam::{Affine3, Vec2, Vec3};
use std::{collections::HashMap, path::Path};

/// From this metalness on, and up to this roughness, a material is a mirror.
const METAL: f32 = 0.9;
const POLISHED: f32 = 0.15;

/// Loads a glTF file as a finished scene.
///
/// # Errors
/// As [`gltf::load_model`], and when there is nothing to see.
pub fn load(path: &Path) -> Result<Scene, LoadError> {
    let model = gltf::load_model(path, &GltfOptions::default())?;
    scene_of(model).ok_or_else(|| {
        let message = "there is nothing to see: no mesh with triangles is in the scene";
        LoadError::file(path, message)
    })
}

/// None if there is nothing to see.
fn scene_of(model: Model) -> Option<Scene> {
    let mut pose = RigPose::default();
    pose.evaluate(&model.rig, &[], 0.0);
    let mut build = Build::new(&model, &pose);
    model.parts.iter().for_each(|part| build.place(part));
    let Build {
        mut scene,
        table,
        slots,
        textures,
        ..
    } = build;
    if scene.instances.is_empty() {
        return None;
    }
    let not_drawn = not_drawn(&model);
    scene.warnings = model.warnings;
    scene.warnings.extend(not_drawn);
    let mut decoded: Vec<_> = model.textures.into_iter().map(Some).collect();
    let used = textures
        .iter()
        .filter_map(|&index| decoded.get_mut(index as usize)?.take());
    scene.textures = used.map(gltf::ModelTexture::into_texture).collect();
    bare::stage(&mut scene, table, slots);
    Some(scene)
}

/// What the file has and pictures do not show, one line each.
fn not_drawn(model: &Model) -> Vec<String> {
    let used = |f: fn(&PbrMaterial) -> bool| {
        let rows = model.meshes.iter().map(|m| m.material as usize);
        rows.filter_map(|row| model.materials.get(row)).any(f)
    };
    let facts = [
        (
            !model.rig.clips.is_empty(),
            "animations: the model is shown at rest",
        ),
        (!model.cameras.is_empty(), "cameras: a turntable is used"),
        (!model.lights.is_empty(), "lights: the sun shines instead"),
        (
            model.meshes.iter().any(|m| !m.mesh.colors.is_empty()),
            "vertex colours",
        ),
        (
            used(|m| m.alpha != gltf::Alpha::Opaque),
            "transparency: surfaces are opaque",
        ),
        (used(|m| m.normal_texture.is_some()), "normal maps"),
        (used(|m| m.transmission.is_some()), "transmission"),
    ];
    let missing = facts.into_iter().filter(|(is_there, _)| *is_there);
    missing
        .map(|(_, what)| format!("not drawn yet: {what}"))
        .collect()
}

/// The scene that a model becomes.
struct Build<'a> {
    model: &'a Model,
    pose: &'a RigPose,
    scene: Scene,
    table: Materials,
    slots: Slots,
    /// Indices of the model's textures, in the order of the scene's.
    textures: Vec<u32>,
    /// Mesh and first slot of the meshes that do not deform.
    shared: HashMap<u32, (u32, u32)>,
}

impl<'a> Build<'a> {
    fn new(model: &'a Model, pose: &'a RigPose) -> Self {
        Self {
            model,
            pose,
            scene: Scene::default(),
            table: Materials::default(),
            slots: Slots::default(),
            textures: Vec::new(),
            shared: HashMap::new(),
        }
    }

    /// Instances of a part, where its node or its joints put it.
    fn place(&mut self, part: &Part) {
        let deformed = self.deformed(part);
        let skinned = part.skin != NONE;
        let (mesh, slot_base) = match (deformed, self.shared.get(&part.mesh)) {
            (Some(triangles), _) => self.add_mesh(part.mesh, triangles),
            (None, Some(&known)) => known,
            (None, None) => {
                let triangles = self.model.meshes[part.mesh as usize].mesh.clone();
                let added = self.add_mesh(part.mesh, triangles);
                self.shared.insert(part.mesh, added);
                added
            }
        };
        let node = if skinned {
            Affine3::IDENTITY
        } else {
            Affine3::from(self.pose.world(part.node))
        };
        let instance = |placement: &Affine3| Instance {
            local: node * *placement,
            node: NONE,
            mesh,
            slot_base,
            motion: NONE,
        };
        let all = part.placements.iter().map(instance);
        self.scene
            .instances
            .extend(all.filter(|i| is_invertible(&i.local)));
    }

    /// The part's triangles at rest, if joints or morph targets move them.
    fn deformed(&self, part: &Part) -> Option<TriangleMesh> {
        let source = &self.model.meshes[part.mesh as usize];
        let weights = self.pose.weights(part.node);
        if part.skin == NONE && weights.iter().all(|&w| w == 0.0) {
            return None;
        }
        let (mut joints, mut out) = (Vec::new(), Deformed::default());
        self.pose.palette(&self.model.rig, part.skin, &mut joints);
        let bind = BindPose::new(&source.mesh, &source.mesh.tangents);
        deform(bind, &source.deformers, &joints, weights, &mut out);
        Some(TriangleMesh {
            positions: out.positions,
            normals: out.normals,
            tangents: out.tangents,
            ..source.mesh.clone()
        })
    }

    fn add_mesh(&mut self, source: u32, mut triangles: TriangleMesh) -> (u32, u32) {
        let source = &self.model.meshes[source as usize];
        let row = self.material(source.material, &mut triangles);
        let mesh = self.scene.meshes.len() as u32;
        self.scene.meshes.push(Mesh {
            name: source.name.clone(),
            shape: Shape::Triangles(triangles),
            slot_count: 1,
        });
        (mesh, self.slots.run(mesh, &[row], NONE))
    }

    /// Table row of a material. The mesh's coordinates become those of its base colour's texture.
    fn material(&mut self, index: u32, triangles: &mut TriangleMesh) -> u32 {
        let default = PbrMaterial::default();
        let m = self.model.materials.get(index as usize).unwrap_or(&default);
        if let Some(reference) = m.base_color_texture.or(m.emissive_texture) {
            place_texture(triangles, &reference);
        }
        let [r, g, b, _] = m.base_color;
        let (color, emission) = (Vec3::new(r, g, b), Vec3::from(m.emissive));
        let color_texture = self.texture(m.base_color_texture);
        let row = if m.unlit {
            Material {
                color: Vec3::ZERO,
                emission: color,
                emission_texture: color_texture,
                ..Material::default()
            }
        } else {
            let mirror = m.metallic >= METAL
                && m.roughness <= POLISHED
                && m.metallic_roughness_texture.is_none();
            Material {
                kind: match mirror {
                    true => MaterialKind::Mirror,
                    false => MaterialKind::Diffuse,
                },
                color,
                color_texture,
                emission,
                emission_texture: self.texture(m.emissive_texture),
            }
        };
        self.table.add(row)
    }

    /// Index of a texture in the scene.
    fn texture(&mut self, reference: Option<TextureRef>) -> u32 {
        let Some(TextureRef { texture, .. }) = reference else {
            return NONE;
        };
        let known = self.textures.iter().position(|&t| t == texture);
        known.unwrap_or_else(|| {
            self.textures.push(texture);
            self.textures.len() - 1
        }) as u32
    }
}

/// Makes `mesh.uvs` the coordinates that a texture is read at.
fn place_texture(mesh: &mut TriangleMesh, reference: &TextureRef) {
    if reference.uv_set == 1 {
        mesh.uvs = std::mem::take(&mut mesh.uvs1);
    }
    let place = |uv: &[f32; 2]| reference.transform.transform_point2(Vec2::from(*uv)).into();
    mesh.uvs = mesh.uvs.iter().map(place).collect();
}

#[cfg(test)]
mod tests {
    use super::{super::gltf::builder::*, *};
    use serde_json::json;

    fn scene(builder: &Builder) -> Scene {
        scene_of(builder.load()).expect("there is something to see")
    }

    fn positions(scene: &Scene, mesh: usize) -> &[[f32; 3]] {
        match &scene.meshes[mesh].shape {
            Shape::Triangles(triangles) => &triangles.positions,
            Shape::Sphere => &[],
        }
    }

    #[test]
    fn nodes_that_share_a_mesh_are_instances_of_it_on_a_ground() {
        let mut b = Builder::triangle();
        b.json["nodes"] = json!([
            {"mesh": 0, "translation": [0, 3, 0], "children": [1]},
            {"mesh": 0, "scale": [2, 2, 2]},
        ]);
        let scene = scene(&b);
        assert_eq!((scene.meshes.len(), scene.instances.len()), (2, 3));
        assert_eq!(scene.meshes[1].name, "ground");
        let corner = |i: usize| scene.instances[i].local.transform_point3(Vec3::X);
        assert_eq!(corner(0), Vec3::new(1.0, 3.0, 0.0));
        assert_eq!(corner(1), Vec3::new(2.0, 3.0, 0.0));
        assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    }

    #[test]
    fn base_colours_and_emission_become_materials() {
        let mut b = Builder::triangle();
        let texture = b.texture(&png(2, 2, [10, 20, 30]));
        b.add(
            "materials",
            json!({
                "emissiveFactor": [0.5, 0, 0],
                "pbrMetallicRoughness": {"baseColorFactor": [0.25, 0.5, 1, 1], "baseColorTexture": {"index": texture}},
            }),
        );
        let coordinates = b.floats(&[[0.0, 0.0], [1.0, 0.0], [0.0, 0.25]]);
        b.primitive()["material"] = json!(0);
        b.primitive()["attributes"]["TEXCOORD_0"] = json!(coordinates);
        let scene = scene(&b);
        let row = scene.material_slots[scene.instances[0].slot_base as usize];
        let material = scene.materials[row as usize];
        assert_eq!(material.kind, MaterialKind::Diffuse);
        assert_eq!(material.color, Vec3::new(0.25, 0.5, 1.0));
        assert_eq!(material.emission, Vec3::new(0.5, 0.0, 0.0));
        assert_eq!((material.color_texture, scene.textures.len()), (0, 1));
        let Shape::Triangles(triangles) = &scene.meshes[0].shape else {
            panic!("a mesh of triangles")
        };
        // v counts from the bottom here, and from the top in the file.
        assert_eq!(triangles.uvs, [[0.0, 1.0], [1.0, 1.0], [0.0, 0.75]]);
    }

    #[test]
    fn unlit_surfaces_shine_and_polished_metals_are_mirrors() {
        for (material, kind, emission) in [
            (
                json!({"extensions": {"KHR_materials_unlit": {}}}),
                MaterialKind::Diffuse,
                Vec3::ONE,
            ),
            (
                json!({"pbrMetallicRoughness": {"metallicFactor": 1, "roughnessFactor": 0}}),
                MaterialKind::Mirror,
                Vec3::ZERO,
            ),
        ] {
            let mut b = Builder::triangle();
            b.json["extensionsUsed"] = json!(["KHR_materials_unlit"]);
            b.add("materials", material);
            b.primitive()["material"] = json!(0);
            let scene = scene(&b);
            let row = scene.material_slots[scene.instances[0].slot_base as usize];
            let material = scene.materials[row as usize];
            assert_eq!((material.kind, material.emission), (kind, emission));
        }
    }

    #[test]
    fn morph_weights_at_rest_shape_the_mesh() {
        let mut b = Builder::triangle();
        let offsets = b.floats(&[[0.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
        b.primitive()["targets"] = json!([{"POSITION": offsets}]);
        b.json["meshes"][0]["weights"] = json!([0.5]);
        assert_eq!(positions(&scene(&b), 0)[0], [0.0, 0.0, 2.0]);
    }

    #[test]
    fn a_skinned_mesh_stands_where_its_joint_does() {
        let mut b = Builder::triangle();
        let joints = b.accessor(U8, "VEC4", &[[0u8, 0, 0, 0]; 3]);
        let weights = b.floats(&[[1.0, 0.0, 0.0, 0.0]; 3]);
        b.primitive()["attributes"]["JOINTS_0"] = json!(joints);
        b.primitive()["attributes"]["WEIGHTS_0"] = json!(weights);
        b.json["nodes"] = json!([
            {"mesh": 0, "skin": 0, "translation": [9, 9, 9]},
            {"translation": [0, 0, 5]},
        ]);
        b.json["scenes"][0]["nodes"] = json!([0, 1]);
        b.add("skins", json!({"joints": [1]}));
        let scene = scene(&b);
        assert_eq!(positions(&scene, 0)[1], [1.0, 0.0, 5.0]);
        assert_eq!(scene.instances[0].local, Affine3::IDENTITY);
    }

    #[test]
    fn what_is_not_drawn_yet_is_told_and_an_empty_file_is_nothing() {
        let mut b = Builder::triangle();
        b.add("materials", json!({"alphaMode": "BLEND"}));
        b.primitive()["material"] = json!(0);
        let told = scene(&b).warnings;
        assert_eq!(told, ["not drawn yet: transparency: surfaces are opaque"]);
        assert!(scene_of(Builder::new().load()).is_none());
    }
}
