//! Tables of a scene: meshes, materials, textures, lights, the camera.

use super::*;

border! {
    /// The part of a vertex that every mesh has, side by side: two loads of 16 bytes. Attributes that a mesh lacks are zero.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct VertexRecord {
        pub position: [f32; 3],
        pub u: f32,
        pub normal: [f32; 3],
        pub v: f32,
    }

    /// Vertex attributes that only some meshes have; kernels load each of the three on its own.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct VertexAttributes {
        /// Unit tangent, and the sign of the bitangent.
        pub tangent: [f32; 4],
        /// Linear, with alpha.
        pub color: [f32; 4],
        /// The second set of texture coordinates.
        pub uv1: [f32; 2],
        pub reserved: [u32; 2],
    }

    /// A triangle's vertices and its material slot.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CornerRecord {
        pub vertices: [u32; 3],
        pub slot: u32,
    }

    /// A mesh's attributes for shading. Null pointers: a sphere.
    #[repr(C, align(16))]
    pub struct MeshRecord {
        pub vertices: *const VertexRecord,
        pub corners: *const CornerRecord,
        /// One per vertex, or null. Flags say which parts count; else there are no tangents, vertices are white, and the second
        /// set of texture coordinates is the first.
        pub attributes: *const VertexAttributes,
        /// One of `SHAPE_*`.
        pub shape: u32,
        /// A sum of `MESH_*`.
        pub flags: u32,
    }

    /// The part of a material that every kind has.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MaterialRecord {
        pub color: [f32; 3],
        pub color_map: u32,
        pub emission: [f32; 3],
        pub emission_map: u32,
        /// One of `MATERIAL_*`.
        pub kind: u32,
        /// A sum of `SURFACE_*`.
        pub flags: u32,
        /// Index of a [`LobesRecord`], if the kind has one.
        pub lobes: u32,
        pub opacity: f32,
        /// Opacity from which on a masked surface is there; 0 for others.
        pub alpha_cutoff: f32,
        /// Mean luminance of what is emitted; 0 where that lights nothing.
        pub emission_weight: f32,
        pub reserved: [u32; 2],
    }

    /// The lobes of a material, as glTF's extensions name and define them; maps are indices of the scene's maps, or
    /// `NO_INDEX`, which is `u32::MAX`.
    #[allow(missing_docs, reason = "the extensions of glTF define them")]
    #[repr(C, align(16))]
    #[derive(PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct LobesRecord {
        pub metallic: f32,
        /// Perceptual roughness: GGX's alpha is its square.
        pub roughness: f32,
        /// Roughness in green, metallic in blue.
        pub metallic_roughness_map: u32,
        pub normal_map: u32,
        /// Multiplies x and y of the normal map.
        pub normal_scale: f32,
        /// Refractive index of the dielectric base; 0 stands for infinity: everything is reflected.
        pub ior: f32,
        /// Weight of the dielectric reflection, which `specular_color` tints at normal incidence.
        pub specular: f32,
        /// Multiplies `specular` by its alpha.
        pub specular_map: u32,
        pub specular_color: [f32; 3],
        pub specular_color_map: u32,
        pub transmission: f32,
        /// Multiplies `transmission` by its red channel.
        pub transmission_map: u32,
        /// Dispersion: 20 / Abbe number.
        pub dispersion: f32,
        /// 1 for a thin wall, which does not refract light and encloses no volume; else 0.
        pub thin: u32,
        /// Share of light per scene unit that the volume behind the surface absorbs or scatters.
        pub extinction: [f32; 3],
        pub diffuse_transmission: f32,
        pub diffuse_transmission_color: [f32; 3],
        /// Multiplies `diffuse_transmission` by its alpha.
        pub diffuse_transmission_map: u32,
        pub diffuse_transmission_color_map: u32,
        pub clearcoat: f32,
        /// Multiplies `clearcoat` by its red channel.
        pub clearcoat_map: u32,
        pub clearcoat_roughness: f32,
        /// Multiplies `clearcoat_roughness` by its green channel.
        pub clearcoat_roughness_map: u32,
        pub clearcoat_normal_map: u32,
        pub clearcoat_normal_scale: f32,
        pub sheen_roughness: f32,
        pub sheen_color: [f32; 3],
        pub sheen_color_map: u32,
        /// Multiplies `sheen_roughness` by its alpha.
        pub sheen_roughness_map: u32,
        pub iridescence: f32,
        /// Multiplies `iridescence` by its red channel.
        pub iridescence_map: u32,
        pub iridescence_ior: f32,
        /// Thickness of the film in nanometres where the map is 0 and where it is 1; without a map, the second applies.
        pub iridescence_thickness: [f32; 2],
        /// Interpolates between the two thicknesses by its green channel.
        pub iridescence_thickness_map: u32,
        pub anisotropy: f32,
        /// Direction in which highlights are stretched, in radians, counter-clockwise from the tangent.
        pub anisotropy_rotation: f32,
        /// Direction in red and green, strength in blue.
        pub anisotropy_map: u32,
        /// Mean cosine of the angle by which the volume scatters (Henyey and Greenstein 1941).
        pub scatter_anisotropy: f32,
        /// Share of what the volume takes that it scatters; 0: it absorbs all.
        pub scatter_albedo: [f32; 3],
        pub reserved: [u32; 2],
    }

    /// How a material reads a texture.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MapRecord {
        /// Rows of a 2×3 matrix from the mesh's coordinates to the texture's.
        pub transform: [f32; 6],
        pub texture: u32,
        /// 0 or 1.
        pub uv_set: u32,
    }

    /// Texels are rows of RGBA, 8-bit (sRGB or linear) or 32-bit linear float, the top row first.
    #[repr(C, align(16))]
    pub struct TextureRecord {
        pub texels: *const u8,
        pub width: u32,
        pub height: u32,
        /// One of `TEXELS_*`.
        pub format: u32,
        /// `WRAP_*` along u and v.
        pub wrap: [u32; 2],
        /// 1 if magnified texels stay square.
        pub nearest: u32,
    }

    /// Suns come first in the table of lights.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct LightRecord {
        /// Position, or the unit direction towards a sun.
        pub vector: [f32; 3],
        pub kind: u32,
        /// Radiant intensity, of a spot light and a disc along the axis; irradiance of a sun.
        pub power: [f32; 3],
        /// One minus the cosine of a sun's angular radius; of a point or spot light one over its range, or 0 without one.
        pub cap: f32,
        /// Unit vector that a spot light or a disc shines along; of a moon, that across its direction to the lit side.
        pub axis: [f32; 3],
        /// A spot's light falls off as the square of `cosine * cone_scale + cone_offset`, clamped to [0, 1].
        pub cone_scale: f32,
        pub cone_offset: f32,
        /// Probability of a sun, once a sun is to be sampled.
        pub probability: f32,
        /// Radius of a sphere, and of the disc of a spot light; 0: that is a point.
        pub radius: f32,
        /// Cosine of the angle between the middle of a moon's lit side and the viewer; 1 for suns, which are bright all over.
        pub phase_cosine: f32,
    }

    /// A cell of the table that directions to an environment image are sampled from, or a row of it.
    #[repr(C, align(8))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct SkyCell {
        /// With which directions in the cell are sampled, per solid angle.
        pub pdf: f32,
        /// Lower half: the cell that is sampled instead where a random number reaches the threshold, a half-precision float
        /// in the upper half.
        pub alias: u32,
    }

    /// A node of the light tree. The two children of node pair `i` are nodes `2i` and `2i + 1`.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct LightNode {
        /// Centre of the bounds.
        pub center: [f32; 3],
        /// Estimated mean intensity, as luminance.
        pub power: f32,
        /// Half the size of the bounds.
        pub extent: [f32; 3],
        /// A pair of nodes, or `LEAF` and an index of an [`EmitterRecord`].
        pub child: u32,
    }

    /// A leaf of the light tree: an instance that shines, or a point or spot light.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterRecord {
        /// Index of the instance's record, or of a [`LightRecord`].
        pub record: u32,
        /// Index of an [`EmitterTable`]; `NO_INDEX` for lights, `EMITTER_IS_ASSEMBLY` for assemblies.
        pub table: u32,
        /// Which way leads here from the root: bit `d` is set where the second child is taken `d` levels below.
        pub trail: u32,
        /// Where the tree of an assembly begins, in the terms of [`LightNode::child`].
        pub root: u32,
    }

    /// The triangles of a mesh that emit light, with the materials of some instances.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterTable {
        /// First of its triangles in the table of these.
        pub first: u32,
        /// Number of triangles; 0 for a sphere.
        pub count: u32,
        /// Sum of the triangles' areas in object space, times the `emission_weight` of their materials.
        pub weight: f32,
        pub reserved: u32,
    }

    /// An entry of an alias table.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterTriangle {
        pub threshold: f32,
        /// The triangle of the mesh below the threshold, and that from there on.
        pub prim: u32,
        pub alias: u32,
        pub reserved: u32,
    }

    /// Light sources within the scene in a tree: instances, point and spot lights.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct LocalLights {
        pub nodes: *const LightNode,
        pub emitters: *const EmitterRecord,
        /// For each instance record its emitter or `NO_INDEX`. Null if no instance shines.
        pub emitter_of: *const u32,
        pub tables: *const EmitterTable,
        pub triangles: *const EmitterTriangle,
        /// Where the tree begins, in the terms of [`LightNode::child`].
        pub root: u32,
        /// Number of emitters; 0 if there is no tree.
        pub count: u32,
        /// Centre of the root's bounds.
        pub center: [f32; 3],
        pub power: f32,
        pub radius_squared: f32,
        pub reserved: u32,
    }

    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct EnvironmentRecord {
        /// Gradient colours.
        pub zenith: [f32; 3],
        pub kind: u32,
        pub horizon: [f32; 3],
        /// Texture with the image, and one with its low-pass copy for diffuse light.
        pub image: u32,
        pub nadir: [f32; 3],
        pub diffuse_image: u32,
        /// Added to the azimuth, in turns.
        pub rotation: f32,
        /// Size of the table that directions to the image are sampled from.
        pub columns: u32,
        pub rows: u32,
        /// Luminance that arrives from all around.
        pub fluence: f32,
        /// Whether it arrives so evenly that scattered rays find it as well as rays that are sampled by it.
        pub even: u32,
        /// Irradiance of the faintest stars, 0 if there are none, and what is taken from every star.
        pub faintest_star: f32,
        pub star_dimming: f32,
        /// Matrix, in rows, from directions in the world to those that turn with the stars.
        pub star_turn: [f32; 9],
    }

    /// Fog of the whole scene. Of full density up to y = `base`, thinner above, and none above `top`, which is no lower than `base`.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct FogRecord {
        /// Share of the extinction that is scattering.
        pub albedo: [f32; 3],
        /// Extinction per unit of length; 0 without fog.
        pub density: f32,
        /// Mean cosine of scattering.
        pub anisotropy: f32,
        pub base: f32,
        pub top: f32,
        /// One over the height in which it thins by a factor of e.
        pub inverse_height: f32,
    }

    /// With x and y in [-1, 1] across the picture, and `shift` added to them, a primary ray of a perspective camera has the direction
    /// `forward + x · right + y · up`; that of an orthographic one starts at `origin + x · right + y · up`. For an equirectangular
    /// one, the three are unit vectors, and x and y half turns about `up` and quarter turns towards it, without a shift.
    #[repr(C)]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CameraRecord {
        pub origin: [f32; 3],
        pub forward: [f32; 3],
        pub right: [f32; 3],
        pub up: [f32; 3],
        pub kind: u32,
        /// Distance along `forward` (equirectangular: of any direction) of what is sharp; 0 for a pinhole.
        pub focus: f32,
        /// From the middle of the lens to its edge.
        pub lens_right: [f32; 3],
        pub lens_up: [f32; 3],
        /// Corners of the aperture, or 0 for a round one; and how far they are turned from right to up, from 0 to 1 turns.
        pub blades: u32,
        pub blade_turn: f32,
        /// From the axis to the middle of the picture, in halves of its width and height.
        pub shift: [f32; 2],
    }
}

impl Default for LobesRecord {
    /// A rough dielectric without any further layer.
    fn default() -> Self {
        Self {
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_map: NO_INDEX,
            normal_map: NO_INDEX,
            normal_scale: 1.0,
            ior: 1.5,
            specular: 1.0,
            specular_map: NO_INDEX,
            specular_color: [1.0; 3],
            specular_color_map: NO_INDEX,
            transmission: 0.0,
            transmission_map: NO_INDEX,
            dispersion: 0.0,
            thin: 1,
            extinction: [0.0; 3],
            diffuse_transmission: 0.0,
            diffuse_transmission_color: [1.0; 3],
            diffuse_transmission_map: NO_INDEX,
            diffuse_transmission_color_map: NO_INDEX,
            clearcoat: 0.0,
            clearcoat_map: NO_INDEX,
            clearcoat_roughness: 0.0,
            clearcoat_roughness_map: NO_INDEX,
            clearcoat_normal_map: NO_INDEX,
            clearcoat_normal_scale: 1.0,
            sheen_roughness: 0.0,
            sheen_color: [0.0; 3],
            sheen_color_map: NO_INDEX,
            sheen_roughness_map: NO_INDEX,
            iridescence: 0.0,
            iridescence_map: NO_INDEX,
            iridescence_ior: 1.3,
            iridescence_thickness: [100.0, 400.0],
            iridescence_thickness_map: NO_INDEX,
            anisotropy: 0.0,
            anisotropy_rotation: 0.0,
            anisotropy_map: NO_INDEX,
            scatter_anisotropy: 0.0,
            scatter_albedo: [0.0; 3],
            reserved: [0; 2],
        }
    }
}
