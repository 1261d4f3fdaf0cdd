//! Primitives that stay sorted along all three axes while they are cut again and again where it is cheapest: sorting once instead of
//! before every cut.

use super::{
    build::BuildPrim,
    split::{PARALLEL_SWEEP, SetBounds, cheapest_cut, sortable},
};
use bytemuck::Zeroable;

/// Room for sorting a set and all that it is cut into.
pub struct SortedMemory {
    keys: Vec<u64>,
    costs: Vec<f32>,
    places: Vec<u32>,
    prims: Vec<BuildPrim>,
}

impl SortedMemory {
    pub fn new(count: usize) -> Self {
        Self {
            keys: vec![0; 6 * count],
            costs: vec![0.0; 3 * count],
            places: vec![0; count],
            prims: vec![BuildPrim::zeroed(); count],
        }
    }

    /// Sorts at least one primitive, as many as there is room for.
    pub fn sort(&mut self, prims: &[BuildPrim]) -> Sorted<'_> {
        let count = prims.len();
        let mut keys = self.keys.chunks_exact_mut(count);
        let mut costs = self.costs.chunks_exact_mut(count);
        let mut axes = [0, 1, 2].map(|_| Axis {
            keys: keys.next().unwrap_or_default(),
            spare: keys.next().unwrap_or_default(),
            costs: costs.next().unwrap_or_default(),
        });
        for (number, axis) in axes.iter_mut().enumerate() {
            for (place, (key, prim)) in axis.keys.iter_mut().zip(prims).enumerate() {
                let center = prim.min[number] + prim.max[number];
                *key = u64::from(sortable(center)) << 32 | place as u64;
            }
        }
        each(&mut axes, |axis| axis.keys.sort_unstable());
        Sorted {
            axes,
            places: &mut self.places,
            prims: &mut self.prims,
        }
    }
}

/// The orders of a set's primitives along all axes. Those whose centres coincide are in the order in which they stand.
pub struct Sorted<'a> {
    axes: [Axis<'a>; 3],
    /// Room for where each primitive goes, and for the primitives.
    places: &'a mut [u32],
    prims: &'a mut [BuildPrim],
}

/// One order: a centre in the upper half of each key, and a primitive's place in the lower.
struct Axis<'a> {
    keys: &'a mut [u64],
    spare: &'a mut [u64],
    costs: &'a mut [f32],
}

impl<'a> Sorted<'a> {
    /// Cuts at least two primitives in two at the cheapest place along any axis, and puts them in order along that axis. Returns how
    /// many come first, and the orders of both parts.
    pub fn cut(mut self, prims: &mut [BuildPrim], set: &SetBounds) -> (usize, [Self; 2]) {
        let mut count = prims.len() / 2;
        if set.is_divisible() {
            // Of cuts that cost the same, the first axis's.
            let [x, y, z] = each(&mut self.axes, |axis| axis.cheapest_cut(prims));
            let (mut least, mut chosen) = (x, 0);
            for (number, cut) in [(1, y), (2, z)] {
                if cut.0 < least.0 {
                    (least, chosen) = (cut, number);
                }
            }
            count = least.1;
            for (place, &key) in self.axes[chosen].keys.iter().enumerate() {
                let from = key as u32 as usize;
                self.places[from] = place as u32;
                self.prims[place] = prims[from];
            }
            prims.copy_from_slice(self.prims);
        } else {
            let places = self.places.iter_mut().zip(0..);
            places.for_each(|(place, own)| *place = own);
        }
        let places = &*self.places;
        each(&mut self.axes, |axis| axis.share_out(places, count));
        (count, self.halves(count))
    }

    fn halves(self, count: usize) -> [Self; 2] {
        let [x, y, z] = self.axes.map(|axis| axis.halves(count));
        let (left_places, right_places) = self.places.split_at_mut(count);
        let (left_prims, right_prims) = self.prims.split_at_mut(count);
        let half = |axes, places, prims| Self {
            axes,
            places,
            prims,
        };
        [
            half([x.0, y.0, z.0], left_places, left_prims),
            half([x.1, y.1, z.1], right_places, right_prims),
        ]
    }
}

impl Axis<'_> {
    fn cheapest_cut(&mut self, prims: &[BuildPrim]) -> (f32, usize) {
        let keys = &*self.keys;
        let corners = |i: usize| prims[keys[i] as u32 as usize].vectors();
        cheapest_cut(keys.len(), corners, 1, self.costs)
    }

    /// Moves the keys of the primitives whose new places are the first `count` to the front of the spare ones, and all others behind.
    fn share_out(&mut self, places: &[u32], count: usize) {
        let mut next = [0, count];
        for &key in &*self.keys {
            let place = places[key as u32 as usize] as usize;
            let side = usize::from(place >= count);
            let own = place - side * count;
            self.spare[next[side]] = key >> 32 << 32 | own as u64;
            next[side] += 1;
        }
        // Only places have changed, so what has to be sorted is centres that coincide.
        let (left, right) = self.spare.split_at_mut(count);
        for part in [left, right] {
            let ties = part.chunk_by_mut(|a, b| a >> 32 == b >> 32);
            ties.filter(|t| t.len() > 1)
                .for_each(<[u64]>::sort_unstable);
        }
    }
}

impl<'a> Axis<'a> {
    /// The orders of both parts, which are in the spare keys.
    fn halves(self, count: usize) -> (Self, Self) {
        let (left_keys, right_keys) = self.spare.split_at_mut(count);
        let (left_spare, right_spare) = self.keys.split_at_mut(count);
        let (left_costs, right_costs) = self.costs.split_at_mut(count);
        let half = |keys, spare, costs| Axis { keys, spare, costs };
        (
            half(left_keys, left_spare, left_costs),
            half(right_keys, right_spare, right_costs),
        )
    }
}

/// Does the same for all axes, side by side where there is enough to do.
fn each<T: Send>(axes: &mut [Axis<'_>; 3], action: impl Fn(&mut Axis<'_>) -> T + Sync) -> [T; 3] {
    let [x, y, z] = axes;
    if x.keys.len() < PARALLEL_SWEEP {
        return [action(x), action(y), action(z)];
    }
    let rest = || rayon::join(|| action(y), || action(z));
    let (x, (y, z)) = rayon::join(|| action(x), rest);
    [x, y, z]
}
