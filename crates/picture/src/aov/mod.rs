//! Arbitrary output variables: values of each pixel in addition to its colour, for compositing and denoising.

pub mod channels;
pub mod cryptomatte;
pub mod paths;

use crate::pixels::Floats;
use throng_base::choice::choice;

choice! {
    /// One kind of value per pixel. What a pixel sees first counts, averaged over its samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Aov {
        /// Share of light that the surface reflects, linear. 1 where nothing is hit, and on shadow catchers.
        Albedo = "albedo",
        /// Unit shading normal in world space, facing the camera. The pixel's mean may be shorter. 0 where nothing is hit, and on shadow
        /// catchers.
        Normal = "normal",
        /// Distance along the camera's axis (in panoramas: from the eye, at the sample's time), in scene units. Taken from the nearest
        /// sample, because a mean may lie between surfaces. 1e10 where nothing is hit.
        Depth = "depth",
        /// Position in world space, from the nearest sample. 0 where nothing is hit.
        Position = "position",
        /// Motion vectors in pixels, x right, y up, as in Cycles' vector pass: offset to the previous frame, offset from the next frame.
        /// Flat mirrors have the motion of the reflected image. With the path integrator, so have flat surfaces of roughness up to 0.2 that
        /// show more reflection than surface.
        Motion = "motion",
        /// Variance of the pixel's mean, per colour channel.
        Variance = "variance",
        /// Cryptomatte of instances: the names of instances and their coverage of the pixel. Contents of nested groups have a path.
        Instance = "instance",
        /// Cryptomatte of materials.
        Material = "material",
        /// Share of the pixel in which the environment is not visible.
        Alpha = "alpha",
        /// Light of the environment that shadows remove from the pixel, where the environment is visible through shadow catchers.
        Shadow = "shadow",
        /// Share of the pixel that is covered by edges of triangles.
        Wireframe = "wireframe",
        /// Expected error of a denoised pixel: its standard deviation over the colour channels. Only for denoised frames.
        Error = "error",
        /// Variance of alpha where shadow catchers have shadows, for the denoiser.
        AlphaVariance = "alpha_variance",
    }
}

/// Number of names per pixel in a Cryptomatte AOV: those with the greatest coverage.
pub const MATTE_RANKS: usize = throng_abi::MATTE_RANKS as usize;

impl Aov {
    /// Number of floats per pixel.
    pub fn channels(self) -> usize {
        match self {
            Self::Albedo | Self::Normal | Self::Position | Self::Variance | Self::Shadow => 3,
            Self::Depth | Self::Alpha | Self::Wireframe | Self::Error | Self::AlphaVariance => 1,
            Self::Motion => 4,
            Self::Instance | Self::Material => 2 * MATTE_RANKS,
        }
    }

    /// Whether the values are pairs of a name's hash and its share of the pixel, as in Cryptomatte.
    pub fn is_matte(self) -> bool {
        matches!(self, Self::Instance | Self::Material)
    }
}

/// A set of AOVs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AovSet(u16);

const _: () = assert!(Aov::ALL.len() <= u16::BITS as usize, "a set has a bit for each AOV");

impl AovSet {
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, aov: Aov) -> bool {
        self.0 & 1 << aov as u16 != 0
    }

    /// The AOVs in the order of [`Aov::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Aov> {
        Aov::ALL.into_iter().filter(move |&l| self.contains(l))
    }

    /// The set with `more` added, if it is given.
    pub fn with(self, more: Option<Aov>) -> Self {
        self.iter().chain(more).collect()
    }

    /// The AOVs that devices produce.
    #[must_use]
    pub fn gathered(self) -> Self {
        self.iter().filter(|&aov| aov != Aov::Error).collect()
    }

    /// Number of floats per pixel, summed over the AOVs.
    pub fn channels(self) -> usize {
        self.iter().map(Aov::channels).sum()
    }
}

/// Serializes the set as a list of names.
impl serde::Serialize for AovSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> serde::Deserialize<'de> for AovSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Vec<Aov> as serde::Deserialize>::deserialize(deserializer).map(|aovs| aovs.into_iter().collect())
    }
}

impl FromIterator<Aov> for AovSet {
    fn from_iter<T: IntoIterator<Item = Aov>>(aovs: T) -> Self {
        Self(aovs.into_iter().fold(0, |set, l| set | 1 << l as u16))
    }
}

/// An AOV of a finished frame.
#[derive(Clone, Debug, PartialEq)]
pub struct AovImage {
    pub aov: Aov,
    /// [`Aov::channels`] floats per pixel, row-major from the top. Cryptomatte AOVs have pairs: a name's hash, as the bit pattern of a
    /// float, and its share of the pixel. Pairs are sorted by decreasing share; unused pairs are (0, 0).
    pub values: Floats,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_they_were_made_of_in_a_fixed_order() {
        let set: AovSet = [Aov::Instance, Aov::Albedo].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Aov::Albedo, Aov::Instance]);
        assert_eq!(set.channels(), 3 + 2 * MATTE_RANKS);
        assert!(!set.contains(Aov::Depth) && AovSet::default().is_empty());
    }
}
