//! Images of materials.

/// An image for materials. v = 0 is the bottom row of the picture, as in OBJ files; `data` starts at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Name for messages.
    pub name: String,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Row-major, the first row at the top.
    pub texels: Texels,
    /// Wrap modes along u and along v.
    pub wrap: [Wrap; 2],
    /// Whether texels are magnified without interpolation.
    pub nearest: bool,
    /// Whether distant texels are averaged, unless a setting turns that off for all textures.
    pub filtered: bool,
}

/// A picture in memory, for textures and environments.
#[derive(Clone, Debug, PartialEq)]
pub struct TexelImage {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Row-major, the first row at the top.
    pub texels: Texels,
}

/// The texels of a texture.
#[derive(Clone, Debug, PartialEq)]
pub enum Texels {
    /// sRGB-encoded 8-bit RGB with linear alpha.
    Srgb8(Vec<[u8; 4]>),
    /// 8-bit data (normals, roughness, weights), 0 to 1.
    Linear8(Vec<[u8; 4]>),
    /// Linear radiance or reflectance.
    Linear(Vec<[f32; 4]>),
}

impl Texels {
    /// Number of texels.
    pub fn count(&self) -> usize {
        match self {
            Self::Srgb8(texels) | Self::Linear8(texels) => texels.len(),
            Self::Linear(texels) => texels.len(),
        }
    }
}

/// Wrap mode of a texture outside of UV 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrap {
    /// Repeats the texture.
    #[default]
    Repeat,
    /// Continues the texels at the edge.
    Clamp,
    /// Repeats the texture, with every other copy mirrored.
    Mirror,
}
