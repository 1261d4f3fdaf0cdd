//! Checks a scene's indices, which kernels follow unchecked. Loaders produce valid indices, but other code may also build scenes.

use crate::{Environment, Instance, Mesh, MotionPart, NONE, Placed, Scene, Shape, Texels, Texture};
use rayon::prelude::*;

/// The first invalid reference of a scene.
#[allow(missing_docs, reason = "their texts say what is wrong")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LostReference {
    #[error("triangles of the mesh `{0}` use vertices or material slots that do not exist")]
    Mesh(String),
    #[error("instance {0} shows a mesh or has material slots that the scene lacks")]
    Instance(usize),
    #[error("material slot {0} names a material that the scene lacks")]
    Slot(usize),
    #[error("material {0} reads a texture map that the scene lacks")]
    Material(usize),
    #[error("texture map {0} reads a texture that the scene lacks")]
    Map(usize),
    #[error("texture `{0}` has fewer texels than its size, or none")]
    Texture(String),
    #[error("the environment's image has fewer pixels than its size, or none")]
    Environment,
}

impl Scene {
    /// Checks all indices that kernels follow. Parallel, O(triangles and instances).
    ///
    /// # Errors
    /// The first index that is out of range.
    pub fn check_references(&self) -> Result<(), LostReference> {
        if let Some(mesh) = self.meshes.iter().find(|mesh| !is_whole(mesh)) {
            return Err(LostReference::Mesh(mesh.name.clone()));
        }
        let mut slots = self.material_slots.iter();
        if let Some(slot) = slots.position(|&row| row as usize >= self.materials.len()) {
            return Err(LostReference::Slot(slot));
        }
        let is_map = |&map: &u32| map == NONE || (map as usize) < self.maps.len();
        let mut materials = self.materials.iter();
        if let Some(row) = materials.position(|m| !m.maps().iter().all(is_map)) {
            return Err(LostReference::Material(row));
        }
        let mut maps = self.maps.iter();
        if let Some(map) = maps.position(|m| m.texture as usize >= self.textures.len()) {
            return Err(LostReference::Map(map));
        }
        if let Some(texture) = self.textures.iter().find(|texture| !has_all_texels(texture)) {
            return Err(LostReference::Texture(texture.name.clone()));
        }
        if let Environment::Image { pixels, .. } = &self.environment
            && !is_filled((pixels.width, pixels.height), pixels.data.len())
        {
            return Err(LostReference::Environment);
        }
        let instances = self.instances.par_iter();
        match instances.position_first(|instance| !self.is_complete(instance)) {
            Some(instance) => Err(LostReference::Instance(instance)),
            None => Ok(()),
        }
    }

    /// Whether all meshes that an instance may show, and all their material slots, exist.
    fn is_complete(&self, instance: &Instance) -> bool {
        if let Placed::Assembly(assembly) = self.placed_by(instance) {
            return self.assemblies[assembly].range().end <= self.instances.len();
        }
        let motion = self.motions.get(instance.motion as usize);
        let mut parts = motion.iter().flat_map(|motion| &motion.parts);
        let poses = parts.find_map(|part| match part {
            MotionPart::Clip { poses, .. } => Some(poses.count as usize),
            MotionPart::Bend(bend) => Some(bend.pose_count() as usize),
            _ => None,
        });
        let (first, base) = (instance.mesh as usize, instance.slot_base as usize);
        let shown = self.meshes.get(first..first.saturating_add(poses.unwrap_or(1)));
        shown.is_some_and(|meshes| {
            let most = meshes.iter().map(|mesh| mesh.slot_count.max(1)).max();
            most.is_some_and(|most| base + most as usize <= self.material_slots.len())
        })
    }
}

fn is_whole(mesh: &Mesh) -> bool {
    let own = match &mesh.shape {
        Shape::Triangles(own) => own,
        Shape::Curves(curves) => return curves.is_whole(),
        Shape::Sphere => return true,
    };
    let has_vertices = |triangle: &[u32; 3]| {
        let mut corners = triangle.iter();
        corners.all(|&vertex| (vertex as usize) < own.positions.len())
    };
    own.triangles.par_iter().all(has_vertices) && own.slots.par_iter().all(|&slot| slot < mesh.slot_count)
}

fn has_all_texels(texture: &Texture) -> bool {
    let size = (texture.width, texture.height);
    match &texture.texels {
        Texels::Compact(compact) => {
            size.0 > 0 && size.1 > 0 && compact.bytes.len() >= compact.format.bytes(size.0, size.1)
        }
        texels => is_filled(size, texels.count()),
    }
}

fn is_filled((width, height): (u32, u32), pixels: usize) -> bool {
    let size = u64::from(width) * u64::from(height);
    size > 0 && size <= pixels as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FloatImage, Material, Stars, TextureMap, TriangleMesh, Wrap};
    use glam::Affine3;

    fn scene() -> Scene {
        let triangle = TriangleMesh {
            positions: vec![[0.0; 3], [1.0; 3], [2.0; 3]],
            triangles: vec![[0, 1, 2]],
            slots: vec![1],
            ..TriangleMesh::default()
        };
        Scene {
            meshes: vec![Mesh { name: "triangle".into(), shape: Shape::Triangles(triangle), slot_count: 2 }],
            instances: vec![Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 1, motion: NONE }],
            material_slots: vec![0, 0, 0],
            materials: vec![Material { color_map: 0, ..Material::default() }],
            maps: vec![TextureMap::plain(0)],
            textures: vec![Texture {
                name: "dot".into(),
                width: 1,
                height: 1,
                texels: Texels::Linear8(vec![[0; 4]]),
                wrap: [Wrap::Repeat; 2],
                nearest: false,
                filtered: true,
            }],
            ..Scene::default()
        }
    }

    #[test]
    fn each_index_that_leads_nowhere_is_found() {
        let found = |change: fn(&mut Scene)| {
            let mut scene = scene();
            change(&mut scene);
            scene.check_references().unwrap_err()
        };
        let mesh = LostReference::Mesh("triangle".into());
        assert_eq!(scene().check_references(), Ok(()));
        assert_eq!(found(|s| triangles(s).triangles[0][2] = 3), mesh);
        assert_eq!(found(|s| triangles(s).slots[0] = 2), mesh);
        assert_eq!(found(|s| s.instances[0].mesh = 1), LostReference::Instance(0));
        assert_eq!(found(|s| s.instances[0].slot_base = 2), LostReference::Instance(0));
        assert_eq!(found(|s| s.material_slots[2] = 1), LostReference::Slot(2));
        assert_eq!(found(|s| s.materials[0].color_map = 1), LostReference::Material(0));
        assert_eq!(found(|s| s.maps[0].texture = 7), LostReference::Map(0));
        assert_eq!(found(|s| s.textures[0].width = 2), LostReference::Texture("dot".into()));
        let image = |s: &mut Scene| {
            let pixels = FloatImage { width: 0, height: 1, data: Vec::new() };
            let rotation = 0.0;
            s.environment = Environment::Image { pixels, rotation, stars: Stars::default() };
        };
        assert_eq!(found(image), LostReference::Environment);
    }

    fn triangles(scene: &mut Scene) -> &mut TriangleMesh {
        match &mut scene.meshes[0].shape {
            Shape::Triangles(triangles) => triangles,
            _ => unreachable!("it is a triangle"),
        }
    }
}
