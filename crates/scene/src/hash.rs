//! A hash of a scene's content, which distinguishes pictures of different scenes.

use super::{
    Curves, Environment, FloatImage, Instance, Mesh, Node, PlacementTables, Scene, Shape, Texels, Texture, TriangleMesh,
};
use std::fmt::{self, Debug, Write};

impl Scene {
    /// Hash of everything that affects pictures of the scene, except settings that the command line can override. It is equal on all
    /// machines, and changes if a program version reads files differently. Takes a few milliseconds per 10 MB of geometry and pictures.
    #[doc(hidden)]
    pub fn content_hash(&self) -> u64 {
        // All fields are listed, so that each new field requires a decision whether it is hashed.
        let Self {
            far: _,
            name: _,
            names: _,
            placed: _,
            subjects: _,
            viewpoints: _,
            settings,
            environment,
            fog,
            lights,
            own_lights: _,
            materials,
            maps,
            textures,
            meshes,
            material_slots,
            nodes,
            instances,
            assemblies,
            motions,
            placement_tables,
            actors,
            animated,
            appearances,
            switches,
            deforming,
            palettes,
            camera,
            cuts,
            views,
            timeline,
            camera_has_keys,
            warnings: _,
            doubts: _,
            notes: _,
            stage: _,
        } = self;
        let mut hash = ContentHash::default();
        hash.text(&(settings.frames, settings.fps, settings.start));
        if settings.first_frame != 1 {
            hash.text(&settings.first_frame);
        }
        hash.environment(environment);
        if let Some(fog) = fog {
            hash.text(fog);
        }
        hash.text(&(lights, materials, maps, camera));
        hash.text(&(cuts, timeline, camera_has_keys));
        if let Some(views) = views {
            hash.text(views);
        }
        textures.iter().for_each(|texture| hash.texture(texture));
        meshes.iter().for_each(|mesh| hash.mesh(mesh));
        hash.bytes(bytemuck::cast_slice(material_slots));
        nodes.iter().for_each(|node| hash.node(node));
        instances.iter().for_each(|instance| hash.instance(instance));
        if !assemblies.is_empty() {
            hash.text(assemblies);
        }
        if !placement_tables.is_empty() {
            let PlacementTables { all, instances, nodes, shown } = &**placement_tables;
            let shapes = Vec::from_iter(all.iter().map(|table| table.shape()));
            hash.text(&(shapes, instances, nodes, shown));
        }
        hash.text(&(motions, actors, animated, appearances, switches, deforming, palettes));
        hash.state
    }
}

/// Maximum number of bytes of a text that are collected before they are hashed.
const LONG: usize = 4096;

/// Hashes words by multiplication, like wyhash. Not cryptographic: collisions can be constructed.
struct ContentHash {
    state: u64,
    /// Bytes of a text that have not been hashed yet.
    waiting: Vec<u8>,
}

impl Default for ContentHash {
    fn default() -> Self {
        Self { state: 0x243f_6a88_85a3_08d3, waiting: Vec::new() }
    }
}

impl ContentHash {
    fn word(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        self.state = (product as u64 ^ (product >> 64) as u64).wrapping_add(0xd1b5_4a32_d192_ed03);
    }

    /// Hashes bytes and their number, so that the boundary to the following data is unambiguous.
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.word(u64::from_le_bytes(word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    /// Hashes a small value of any type by its `Debug` text.
    fn text(&mut self, value: &dyn Debug) {
        // Writing to memory cannot fail.
        let _ = write!(self, "{value:?}");
        let text = std::mem::take(&mut self.waiting);
        self.bytes(&text);
    }

    fn environment(&mut self, environment: &Environment) {
        match environment {
            Environment::Image { pixels, rotation, stars } => {
                let FloatImage { width, height, data } = pixels;
                self.text(&(width, height, rotation, stars));
                self.bytes(bytemuck::cast_slice(data));
            }
            other => self.text(other),
        }
    }

    fn texture(&mut self, texture: &Texture) {
        let Texture { name: _, width, height, texels, wrap, nearest, filtered } = texture;
        self.text(&(width, height, wrap, nearest, filtered, std::mem::discriminant(texels)));
        if let Texels::Compact(compact) = texels {
            self.text(&(compact.format, compact.is_srgb));
        }
        self.bytes(texels.bytes());
    }

    fn mesh(&mut self, mesh: &Mesh) {
        let Mesh { name: _, shape, slot_count } = mesh;
        self.word((*slot_count).into());
        let triangles = match shape {
            Shape::Triangles(triangles) => triangles,
            Shape::Curves(curves) => return self.curves(curves),
            Shape::Sphere => return self.text(&"sphere"),
        };
        let TriangleMesh { positions, triangles, normals, uvs, uvs1, colors, tangents, slots } = triangles;
        self.bytes(bytemuck::cast_slice(positions));
        self.bytes(bytemuck::cast_slice(triangles));
        self.bytes(bytemuck::cast_slice(normals));
        self.bytes(bytemuck::cast_slice(uvs));
        self.bytes(bytemuck::cast_slice(uvs1));
        self.bytes(bytemuck::cast_slice(colors));
        self.bytes(bytemuck::cast_slice(tangents));
        self.bytes(bytemuck::cast_slice(slots));
    }

    fn curves(&mut self, curves: &Curves) {
        let Curves { points, strands, profile, uvs, colors } = curves;
        self.text(&("curves", profile));
        self.bytes(bytemuck::cast_slice(points));
        self.bytes(bytemuck::cast_slice(strands));
        self.bytes(bytemuck::cast_slice(uvs));
        self.bytes(bytemuck::cast_slice(colors));
    }

    fn node(&mut self, node: &Node) {
        let Node { local, parent, motion, follows } = node;
        self.bytes(bytemuck::cast_slice(&local.to_cols_array()));
        self.bytes(bytemuck::cast_slice(&[*parent, *motion]));
        if let Some(follows) = follows {
            self.text(follows);
        }
    }

    fn instance(&mut self, instance: &Instance) {
        let &Instance { local, node, mesh, slot_base, motion } = instance;
        self.bytes(bytemuck::cast_slice(&local.to_cols_array()));
        self.bytes(bytemuck::cast_slice(&[node, mesh, slot_base, motion]));
    }
}

impl Write for ContentHash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.waiting.extend_from_slice(text.as_bytes());
        if self.waiting.len() > LONG {
            let mut waiting = std::mem::take(&mut self.waiting);
            let whole = waiting.len() & !7;
            let words = waiting[..whole].as_chunks::<8>().0;
            words.iter().for_each(|&word| self.word(u64::from_le_bytes(word)));
            waiting.drain(..whole);
            self.waiting = waiting;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fog;
    use glam::{Affine3, Vec3};

    fn scene() -> Scene {
        Scene {
            instances: vec![Instance { local: Affine3::IDENTITY, node: 0, mesh: 0, slot_base: 0, motion: 0 }],
            ..Scene::default()
        }
    }

    #[test]
    fn what_is_seen_changes_the_hash_and_nothing_else_does() {
        let plain = scene().content_hash();
        assert_eq!(plain, scene().content_hash());
        let mut moved = scene();
        moved.instances[0].local.translation.x = 1e-6;
        let mut lit = scene();
        lit.environment = Environment::Constant { radiance: Vec3::ONE };
        let mut foggy = scene();
        foggy.fog = Some(Fog { density: 0.0, albedo: Vec3::ONE, anisotropy: 0.0, thinning: None, top: None });
        let mut meant = scene();
        meant.meshes.push(Mesh { name: "m".into(), shape: Shape::Sphere, slot_count: 1 });
        for other in [moved, lit, foggy, meant] {
            assert_ne!(plain, other.content_hash());
        }
        let mut renamed = scene();
        renamed.name = "other".into();
        renamed.settings.width = 9;
        renamed.warnings.push("w".into());
        assert_eq!(plain, renamed.content_hash());
    }
}
