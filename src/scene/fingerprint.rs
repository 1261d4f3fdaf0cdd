//! A number that tells scenes apart: for files that only make sense with the scene they were made from.

use super::{
    Camera, Environment, FloatImage, Instance, Mesh, RenderDefaults, Scene, Shape, Texels, Texture,
};
use std::fmt::{self, Write};

impl Scene {
    /// A hash of all that can be seen of the scene, and of its times; not of its name, nor of how many samples and pixels it asks
    /// for. The same for the same files and flags; about a second for a billion bytes.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Hash::default();
        self.hash_tables(&mut hash);
        hash.environment(&self.environment);
        self.meshes.iter().for_each(|mesh| hash.mesh(mesh));
        self.textures.iter().for_each(|t| hash.texture(t));
        self.instances.iter().for_each(|i| hash.instance(i));
        hash.bytes(bytemuck::cast_slice(&self.material_slots));
        hash.0
    }

    fn hash_tables(&self, hash: &mut Hash) {
        let RenderDefaults {
            frames, fps, start, ..
        } = &self.settings;
        let Camera {
            path,
            up,
            projection,
            lens,
            tracks,
        } = &self.camera;
        let (materials, maps, lights) = (&self.materials, &self.maps, &self.lights);
        let (nodes, motions, palettes) = (&self.nodes, &self.motions, &self.palettes);
        let (actors, driven, deforming) = (&self.actors, &self.driven, &self.deforming);
        // Hashing cannot fail.
        let _ = write!(
            hash,
            "{frames} {fps} {start} {path:?} {up} {projection:?} {lens:?} {tracks:?} \
             {materials:?} {maps:?} {lights:?} {nodes:?} {motions:?} {palettes:?} \
             {actors:?} {driven:?} {deforming:?}"
        );
    }
}

/// Words are mixed in one after the other, by multiplication and a shift of what it carried up.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

impl Hash {
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    /// With their number, so that two runs of bytes are not one.
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    fn floats<const N: usize>(&mut self, floats: &[[f32; N]]) {
        self.bytes(bytemuck::cast_slice(floats.as_flattened()));
    }

    fn environment(&mut self, environment: &Environment) {
        match environment {
            Environment::Image { pixels, rotation } => {
                let FloatImage {
                    width,
                    height,
                    data,
                } = pixels;
                self.word(u64::from(*width) << 32 | u64::from(*height));
                self.word(u64::from(rotation.to_bits()));
                self.floats(data);
            }
            other => {
                let _ = write!(self, "{other:?}");
            }
        }
    }

    fn mesh(&mut self, mesh: &Mesh) {
        let Shape::Triangles(triangles) = &mesh.shape else {
            return self.word(1);
        };
        self.floats(&triangles.positions);
        self.bytes(bytemuck::cast_slice(triangles.triangles.as_flattened()));
        self.floats(&triangles.normals);
        self.floats(&triangles.uvs);
        self.floats(&triangles.uvs1);
        self.floats(&triangles.colors);
        self.floats(&triangles.tangents);
        self.bytes(bytemuck::cast_slice(&triangles.slots));
    }

    fn texture(&mut self, texture: &Texture) {
        self.word(u64::from(texture.width) << 32 | u64::from(texture.height));
        let _ = write!(self, "{:?} {}", texture.wrap, texture.nearest);
        match &texture.texels {
            Texels::Srgb8(texels) => self.bytes(texels.as_flattened()),
            Texels::Linear8(texels) => {
                self.word(1);
                self.bytes(texels.as_flattened());
            }
            Texels::Linear(texels) => self.floats(texels),
        }
    }

    fn instance(&mut self, instance: &Instance) {
        self.floats(&[instance.local.to_cols_array()]);
        self.word(u64::from(instance.node) << 32 | u64::from(instance.mesh));
        self.word(u64::from(instance.slot_base) << 32 | u64::from(instance.motion));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::NONE;
    use glam::{Affine3, Vec3};

    #[test]
    fn what_is_seen_counts_and_names_and_samples_do_not() {
        let scene = Scene {
            instances: vec![Instance {
                local: Affine3::IDENTITY,
                node: NONE,
                mesh: 0,
                slot_base: 0,
                motion: NONE,
            }],
            ..Scene::default()
        };
        let same = |change: fn(&mut Scene)| {
            let mut other = scene.clone();
            change(&mut other);
            other.fingerprint() == scene.fingerprint()
        };
        assert!(same(|s| s.name = "another".into()));
        assert!(same(|s| s.settings.samples = 99));
        assert!(!same(|s| s.settings.start = 1.0));
        assert!(!same(|s| s.camera.up = Vec3::Z));
        assert!(!same(|s| s.instances[0].local.translation.x = 1e-6));
        assert!(!same(|s| s.instances.clear()));
    }
}
