//! The wind of `Fur`: strands that sway each on its own, by two morph targets.
//!
//! A tip leans with the wind by `a (1 + cos(x - t))`, where `a` is half the greatest displacement and `x` the phase of its strand. This is a
//! constant lean, and the sum of `cos x` and `sin x` with the weights `cos t` and `sin t`, which all strands share.

use super::fur::Growth;
use crate::{
    LoadError,
    model::{MeshMotion, weighted_motion},
    ron::{checked::Fields, file::Source, placing::random, scatter::sites::Site, source::Place},
};
use glam::Vec3;
use std::f32::consts::TAU;
use throng_scene::{CurvePoint, desc::FurWind, rig::MorphTarget};

/// Dimension of the random numbers for phases.
const PHASE: u32 = 17;
/// Share of a period by which phases of neighbouring strands differ at random.
const SPREAD: f32 = 0.15;
/// Keys per period. Between keys, weights are interpolated with an error of at most half a per cent.
const KEYS: usize = 32;

/// A checked wind.
pub struct Wind {
    direction: Vec3,
    /// Half of the greatest displacement, relative to the length of a strand.
    amplitude: f32,
    period: f64,
    wave: f32,
    seed: u32,
}

impl Wind {
    /// Checks the wind at `place` for strands of this growth.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn new(source: &Source, wind: &FurWind, growth: &Growth, place: &Place) -> Result<Self, LoadError> {
        let fields = Fields { source, place };
        Ok(Self {
            direction: fields.direction(wind.direction, "direction")?,
            amplitude: 0.5 * fields.within(wind.strength, "strength", (0.0, 1.0))?,
            period: fields.above_zero(wind.period, "period")?.into(),
            wave: wind.wave.map_or(Ok(10.0 * growth.length), |wave| fields.above_zero(wave, "wave"))?,
            seed: growth.seed,
        })
    }

    /// Leans strands with the wind, and returns how they sway. `points` are `per_strand` for each of the `sites`.
    pub fn sway(&self, sites: &[(u32, Site)], per_strand: usize, points: &mut [CurvePoint]) -> MeshMotion {
        let mut targets = [0, 1].map(|_| vec![[0.0; 3]; points.len()]);
        for (strand, (number, site)) in sites.iter().enumerate() {
            let first = strand * per_strand;
            let own = &mut points[first..first + per_strand];
            let length: f32 =
                own.windows(2).map(|pair| Vec3::from(pair[0].position).distance(pair[1].position.into())).sum();
            // A strand does not sway along its root.
            let lean = self.direction.reject_from_normalized(site.normal) * (length * self.amplitude);
            let phase = site.point.dot(self.direction) / self.wave + SPREAD * random::signed(self.seed, PHASE, *number);
            let (sin, cos) = (TAU * phase.fract()).sin_cos();
            for (step, point) in own.iter_mut().enumerate() {
                let share = step as f32 / (per_strand - 1) as f32;
                let lean = lean * (share * share);
                point.position = (Vec3::from(point.position) + lean).into();
                targets[0][first + step] = (lean * cos).into();
                targets[1][first + step] = (lean * sin).into();
            }
        }
        let targets = targets.map(|positions| MorphTarget { positions, ..MorphTarget::default() });
        let turn = |key: usize| key as f64 / KEYS as f64;
        let seconds: Vec<f64> = (0..=KEYS).map(|key| turn(key) * self.period).collect();
        let weights = (0..=KEYS).flat_map(|key| {
            let (sin, cos) = (std::f64::consts::TAU * turn(key)).sin_cos();
            [cos as f32, sin as f32]
        });
        weighted_motion(targets.into(), points.len(), (&seconds, weights.collect()), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::NONE;

    #[test]
    fn strands_lean_with_the_wind_and_their_roots_stay() {
        let wind = Wind { direction: Vec3::X, amplitude: 0.2, period: 2.0, wave: 4.0, seed: 1 };
        let site = |x: f32| Site { point: Vec3::new(x, 0.0, 0.0), normal: Vec3::Y, triangle: NONE, weights: [0.0; 3] };
        let sites: Vec<(u32, Site)> = (0..40).map(|number| (number, site(number as f32 * 0.25))).collect();
        let strand = |x: f32| [0.0, 0.5, 1.0].map(|y| CurvePoint { position: [x, y, 0.0], radius: 0.1 });
        let mut points: Vec<CurvePoint> = sites.iter().flat_map(|(_, site)| strand(site.point.x)).collect();
        let MeshMotion::Alive { actor, deforming, .. } = wind.sway(&sites, 3, &mut points) else { panic!("still") };
        assert!(actor.playbacks[0].looped && actor.rig.clips[0].duration == 2.0);
        let targets = &deforming.pieces[0].deformers.targets;
        for (strand, (_, site)) in sites.iter().enumerate() {
            assert_eq!(points[3 * strand].position, [site.point.x, 0.0, 0.0]);
            let [a, b] = [0, 1].map(|target| targets[target].positions[3 * strand + 2][0]);
            assert!((a.hypot(b) - 0.2).abs() < 1e-6);
            // The mean lean, from which the tip sways back to upright.
            assert!((points[3 * strand + 2].position[0] - site.point.x - 0.2).abs() < 1e-6);
        }
        let weights = &actor.rig.clips[0].channels[0].values;
        assert_eq!((weights[0], weights[weights.len() - 2]), (1.0, 1.0));
    }
}
