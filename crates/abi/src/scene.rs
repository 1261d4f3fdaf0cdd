//! Tables of a scene: meshes, materials, textures, lights, the camera.

use super::*;

border! {
    /// The vertex attributes of every mesh, arranged for two 16-byte loads. Attributes that a mesh lacks are zero.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct VertexRecord {
        pub position: [f32; 3],
        pub u: f32,
        pub normal: [f32; 3],
        pub v: f32,
    }

    /// Optional vertex attributes. Kernels load each of the three separately.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct VertexAttributes {
        /// Unit tangent, and the sign of the bitangent in the fourth component.
        pub tangent: [f32; 4],
        /// Linear RGB and alpha.
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

    /// Shading data of a mesh. Pointers are null for a sphere.
    #[repr(C, align(16))]
    pub struct MeshRecord {
        /// [`CurvePoint`]s if `shape` is `SHAPE_CURVES` or `SHAPE_RIBBONS`.
        pub vertices: *const VertexRecord,
        /// Null for curves.
        pub corners: *const CornerRecord,
        /// One record per vertex or point, or null. `flags` selects the valid parts. Defaults for the others: no tangents, white vertices, and the first set
        /// of texture coordinates in place of the second.
        pub attributes: *const VertexAttributes,
        /// One of `SHAPE_*`.
        pub shape: u32,
        /// A sum of `MESH_*`.
        pub flags: u32,
    }

    /// The material properties that every kind has.
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
        /// Opacity at which a masked surface becomes visible; 0 for other surfaces.
        pub alpha_cutoff: f32,
        /// Mean luminance of the emitted light; 0 if it does not illuminate the scene.
        pub emission_weight: f32,
        pub reserved: [u32; 2],
    }

    /// The lobes of a material, as glTF's extensions name and define them. Maps are indices of the scene's maps, or `NO_INDEX`, which is `u32::MAX`.
    ///
    /// Hair has no lobes of glTF. It reads `roughness`, `azimuthal_roughness`, `ior`, `cuticle_tilt`, and `clearcoat` as the fraction by which the
    /// lobe of the surface's reflection is less rough than the others.
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
        /// Refractive index of the dielectric base; 0 means infinity (total reflection).
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
        /// 1 for a thin wall, which neither refracts light nor encloses a volume; otherwise 0.
        pub thin: u32,
        /// Extinction of the volume behind the surface: fraction of light absorbed or scattered per scene unit.
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
        /// Thickness of the thin film in nanometres where the map is 0 and where it is 1. Without a map, the second value applies.
        pub iridescence_thickness: [f32; 2],
        /// Interpolates between the two thicknesses by its green channel.
        pub iridescence_thickness_map: u32,
        pub anisotropy: f32,
        /// Direction in which highlights are stretched, in radians, counter-clockwise from the tangent.
        pub anisotropy_rotation: f32,
        /// Direction in red and green, strength in blue.
        pub anisotropy_map: u32,
        /// Mean cosine of the volume's scattering angle (Henyey and Greenstein 1941).
        pub scatter_anisotropy: f32,
        /// Fraction of the volume's extinction that is scattering; 0 if all is absorbed.
        pub scatter_albedo: [f32; 3],
        /// Of hair, perceptual roughness around the fibre; `roughness` is the roughness along it.
        pub azimuthal_roughness: f32,
        /// Of hair, tilt of the scales on the fibre's surface, in radians. Positive values move the highlight towards the root.
        pub cuticle_tilt: f32,
    }

    /// Mapping from a material's texture coordinates to a texture.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MapRecord {
        /// Row-major 2×3 matrix from the mesh's coordinates to the texture's.
        pub transform: [f32; 6],
        pub texture: u32,
        /// 0 or 1.
        pub uv_set: u32,
    }

    /// Texels are rows, the top row first: RGBA with 8 bits per channel or as linear 32-bit floats, or compact formats. Blocks of 4x4 texels are rows of
    /// blocks, of which the last may reach beyond the texture.
    #[repr(C, align(16))]
    pub struct TextureRecord {
        pub texels: *const u8,
        /// Texels of the smaller levels, one after another. Each has half the width and height of the one before, rounded down, at least 1.
        pub mips: *const u8,
        pub width: u32,
        pub height: u32,
        /// One of `TEXELS_*`.
        pub format: u32,
        /// Format of the smaller levels.
        pub mip_format: u32,
        /// `WRAP_*` along u and v.
        pub wrap: [u32; 2],
        /// Number of levels including `texels`, at least 1.
        pub levels: u32,
        /// A combination of `TEXTURE_*`.
        pub flags: u32,
    }

    /// A light source. Suns come first in the table of lights.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct LightRecord {
        /// Position, or the unit direction towards a sun.
        pub vector: [f32; 3],
        pub kind: u32,
        /// Irradiance of a sun; otherwise radiant intensity, for spot lights and discs along the axis.
        pub power: [f32; 3],
        /// For a sun, one minus the cosine of its angular radius. For a point or spot light, one over its range, or 0 without one.
        pub cap: f32,
        /// Unit vector along which a spot light or disc shines. For a moon, the unit vector perpendicular to its direction that points to its lit
        /// side.
        pub axis: [f32; 3],
        /// A spot light's falloff is the square of `cosine * cone_scale + cone_offset`, clamped to [0, 1].
        pub cone_scale: f32,
        pub cone_offset: f32,
        /// Probability of this sun, given that a sun is sampled.
        pub probability: f32,
        /// Radius of a sphere, or of a spot light's disc; 0 for a point.
        pub radius: f32,
        /// Cosine of the angle between the middle of a moon's lit side and the viewer; 1 for suns, which are uniformly bright.
        pub phase_cosine: f32,
    }

    /// A cell, or a row, of the table for importance-sampling an environment image.
    #[repr(C, align(8))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct SkyCell {
        /// Pdf of directions in the cell, per solid angle.
        pub pdf: f32,
        /// Lower half: the alias cell, which is sampled if a random number reaches the threshold. Upper half: the threshold, a half-precision float.
        pub alias: u32,
    }

    /// A node of the light tree. The children of node pair `i` are nodes `2i` and `2i + 1`.
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

    /// A leaf of the light tree: an emissive instance, or a point or spot light.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterRecord {
        /// Index of the instance's record, or of a [`LightRecord`].
        pub record: u32,
        /// Index of an [`EmitterTable`]; `NO_INDEX` for lights, `EMITTER_IS_ASSEMBLY` for assemblies.
        pub table: u32,
        /// Path from the root to this leaf: bit `d` is set if the second child is taken at depth `d`.
        pub trail: u32,
        /// Root of an assembly's tree, encoded like [`LightNode::child`].
        pub root: u32,
    }

    /// The emissive triangles of a mesh, for the materials of some instances.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterTable {
        /// Index of the first triangle in the table of triangles.
        pub first: u32,
        /// Number of triangles; 0 for a sphere.
        pub count: u32,
        /// Sum over the triangles of area in object space, times `emission_weight` of the material.
        pub weight: f32,
        pub reserved: u32,
    }

    /// An entry of an alias table.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterTriangle {
        pub threshold: f32,
        /// The mesh's triangle for random numbers below the threshold, and the triangle for others.
        pub prim: u32,
        pub alias: u32,
        pub reserved: u32,
    }

    /// The tree over light sources inside the scene: instances, point and spot lights.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct LocalLights {
        pub nodes: *const LightNode,
        pub emitters: *const EmitterRecord,
        /// For each instance record, the index of its emitter or `NO_INDEX`. Null if no instance is emissive.
        pub emitter_of: *const u32,
        pub tables: *const EmitterTable,
        pub triangles: *const EmitterTriangle,
        /// Root of the tree, encoded like [`LightNode::child`].
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
        /// Index of the image's texture, and of its low-pass copy for diffuse light.
        pub image: u32,
        pub nadir: [f32; 3],
        pub diffuse_image: u32,
        /// Rotation added to the azimuth, in turns.
        pub rotation: f32,
        /// Size of the table for importance-sampling the image.
        pub columns: u32,
        pub rows: u32,
        /// Luminance that arrives from all directions.
        pub fluence: f32,
        /// 1 if light arrives so uniformly that scattered rays find it as well as importance-sampled rays.
        pub even: u32,
        /// Irradiance of the faintest stars (0 without stars), and the irradiance subtracted from every star.
        pub faintest_star: f32,
        pub star_dimming: f32,
        /// Row-major rotation matrix from world space to the space of the stars.
        pub star_turn: [f32; 9],
    }

    /// Fog of the whole scene. Full density up to y = `base`, exponential falloff above it, and no fog above `top`, which is at least `base`.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct FogRecord {
        /// Single-scattering albedo: fraction of the extinction that is scattering.
        pub albedo: [f32; 3],
        /// Extinction per unit of length; 0 without fog.
        pub density: f32,
        /// Mean cosine of the scattering angle.
        pub anisotropy: f32,
        pub base: f32,
        pub top: f32,
        /// One over the scale height, in which density falls by a factor of e.
        pub inverse_height: f32,
    }

    /// Coordinates x and y are in [-1, 1] across the picture, plus `shift`. A primary ray of a perspective camera has the direction
    /// `forward + x · right + y · up`. A primary ray of an orthographic camera starts at `origin + x · right + y · up`. For an equirectangular
    /// camera, the three are unit vectors, x counts half turns about `up`, y counts quarter turns towards `up`, and there is no shift. For lenses
    /// with distortion, the three are unit vectors, and x and y are multiplied by `scale` and then freed of the distortion.
    #[repr(C)]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CameraRecord {
        pub origin: [f32; 3],
        pub forward: [f32; 3],
        pub right: [f32; 3],
        pub up: [f32; 3],
        pub kind: u32,
        /// Focus distance along `forward` (equirectangular: along any direction); 0 for a pinhole.
        pub focus: f32,
        /// Vectors from the lens's centre to its edge.
        pub lens_right: [f32; 3],
        pub lens_up: [f32; 3],
        /// Number of aperture blades, or 0 for a round aperture; and the rotation of the blades from right to up, in turns from 0 to 1.
        pub blades: u32,
        pub blade_turn: f32,
        /// Offset from the camera's axis to the centre of the picture, in halves of its width and height.
        pub shift: [f32; 2],
        /// Halves of the picture's width and height at distance 1.
        pub scale: [f32; 2],
        /// Coefficients of the distortion: k1 to k6, p1 and p2, or k1 to k4.
        pub distortion: [f32; 8],
    }
}

impl Default for LobesRecord {
    /// A rough dielectric without further layers.
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
            azimuthal_roughness: 0.3,
            cuticle_tilt: 0.0,
        }
    }
}
