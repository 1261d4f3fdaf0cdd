//! Copies that stand in a stage twice.
//!
//! Blender writes instances of geometry nodes as native instances and once more in a point instancer beside them. Both would be drawn: glass
//! would be twice as thick, and all of it twice as slow. The native instances are removed, because copies of an instancer are compact.

use super::{places, warnings::Warnings};
use crate::{Content, Copies, Group, Item, NONE, Sampled, Times};
use glam::{DAffine3, DVec3};
use std::collections::HashMap;

/// Largest distance of equal places, relative to their distance from the origin or the scale.
const SAME_PLACE: f64 = 1e-5;

/// Largest difference of equal axes, relative to their length. Orientations of instancers have eleven bits.
const SAME_AXIS: f64 = 4e-3;

/// What a group shows in the end: groups that only place another one are skipped.
#[derive(Clone, Copy)]
struct Shown {
    group: u32,
    place: DAffine3,
}

/// A copy of an instancer: the item, its copies, the index of the copy, and the place of what it shows.
type Copy<'a> = (&'a Item, &'a Copies, usize, DAffine3);

/// Removes native instances of each group that a point instancer of the group places as well.
pub fn remove(groups: &mut [Group], times: Times, warnings: &Warnings) {
    let shown = shown(groups);
    let times: Vec<f64> = times.range.map_or(vec![0.0], |(start, end)| vec![start, end]);
    for group in groups {
        let copies: Vec<&Item> = group.items.iter().filter(|item| matches!(item.content, Content::Copies(_))).collect();
        let natives = group.items.iter().filter(|item| matches!(item.content, Content::Group(_))).count();
        if copies.is_empty() || natives == 0 {
            continue;
        }
        let doubled = doubled(group, &shown, &times);
        if doubled.is_empty() {
            continue;
        }
        warnings.add(format!(
            "{}: {} instances are also copies of this point instancer at the same places, as Blender writes them; each is shown once",
            copies[0].name,
            doubled.len()
        ));
        let mut index = 0;
        let mut doubled = doubled.into_iter().peekable();
        group.items.retain(|_| {
            let gone = doubled.next_if_eq(&index).is_some();
            index += 1;
            !gone
        });
    }
}

/// What each group shows. Groups with equal geometry show the same one, whatever their materials: Blender writes these once for each place.
fn shown(groups: &[Group]) -> Vec<Shown> {
    let mut shown: Vec<Shown> =
        (0..groups.len()).map(|group| Shown { group: group as u32, place: DAffine3::IDENTITY }).collect();
    let mut equals: HashMap<Vec<u64>, Shown> = HashMap::new();
    // Each group precedes those that it places.
    for index in (0..groups.len()).rev() {
        if let [Item { content: Content::Group(inner), group_from_item: Sampled::Still(place), shown: visible, .. }] =
            &groups[index].items[..]
            && *visible == Sampled::Still(true)
        {
            let inner = shown[*inner as usize];
            shown[index] = Shown { group: inner.group, place: *place * inner.place };
        } else if let Some(content) = geometry(&groups[index], &shown) {
            shown[index] = *equals.entry(content).or_insert(shown[index]);
        }
    }
    shown
}

/// The geometry of a small group that stays, as numbers. `None` for other groups.
fn geometry(group: &Group, shown: &[Shown]) -> Option<Vec<u64>> {
    const SMALL: usize = 1000;
    let mut numbers = Vec::new();
    for item in &group.items {
        let (content, inner) = match &item.content {
            Content::Shape { shape, skeleton: NONE, .. } => ([0, u64::from(*shape)], DAffine3::IDENTITY),
            Content::Group(group) => {
                let inner = shown[*group as usize];
                ([1, u64::from(inner.group)], inner.place)
            }
            _ => return None,
        };
        let (Sampled::Still(place), Sampled::Still(true)) = (&item.group_from_item, &item.shown) else { return None };
        numbers.extend(content);
        numbers.extend((*place * inner).to_cols_array().map(f64::to_bits));
    }
    (group.items.len() <= SMALL).then_some(numbers)
}

/// Indices of the items, ascending, that copies of a point instancer show as well.
fn doubled(group: &Group, shown: &[Shown], times: &[f64]) -> Vec<usize> {
    // Copies by what they show and a cell of their place at the first time.
    let mut copies: HashMap<(u32, [i64; 3]), Vec<Copy<'_>>> = HashMap::new();
    let size = extent(group, times[0]);
    let cell = (size * SAME_PLACE * 4.0).max(f64::MIN_POSITIVE);
    let cell_of = |at: DVec3| (at / cell).round().as_i64vec3().to_array();
    for item in &group.items {
        let Content::Copies(content) = &item.content else { continue };
        if item.shown != Sampled::Still(true) {
            continue;
        }
        let start = places::at(&item.group_from_item, times[0]);
        for (copy, &of) in content.of.iter().enumerate() {
            let inner = shown[content.prototypes[of as usize] as usize];
            let place = start * copy_at(content, copy, times[0]) * inner.place;
            if place.is_finite() {
                copies.entry((inner.group, cell_of(place.translation))).or_default().push((
                    item,
                    content,
                    copy,
                    inner.place,
                ));
            }
        }
    }
    let near = |at: DVec3| {
        let [x, y, z] = cell_of(at);
        (-1..=1).flat_map(move |i| (-1..=1).flat_map(move |j| (-1..=1).map(move |k| [x + i, y + j, z + k])))
    };
    let is_double = |item: &Item, group: u32| {
        let inner = shown[group as usize];
        let place_at = |time: f64| places::at(&item.group_from_item, time) * inner.place;
        near(place_at(times[0]).translation).any(|cell| {
            copies.get(&(inner.group, cell)).into_iter().flatten().any(|(of, content, copy, local)| {
                times.iter().all(|&time| {
                    let place = places::at(&of.group_from_item, time) * copy_at(content, *copy, time) * *local;
                    same(place, place_at(time), size)
                })
            })
        })
    };
    let items = group.items.iter().enumerate();
    let items = items.filter(|(_, item)| matches!(item.content, Content::Group(group) if is_double(item, group)));
    items.map(|(index, _)| index).collect()
}

/// Largest distance of an item or a copy from the origin.
fn extent(group: &Group, time: f64) -> f64 {
    let far = group.items.iter().map(|item| {
        let place = places::at(&item.group_from_item, time);
        match &item.content {
            Content::Copies(copies) => {
                let copies = (0..copies.of.len()).map(|copy| place * copy_at(copies, copy, time));
                copies
                    .map(|copy| copy.translation.abs().max_element())
                    .filter(|far| far.is_finite())
                    .fold(0.0, f64::max)
            }
            _ => place.translation.abs().max_element(),
        }
    });
    far.fold(0.0, f64::max)
}

fn copy_at(copies: &Copies, copy: usize, time: f64) -> DAffine3 {
    let double = |place: &glam::Affine3| DAffine3::from_cols_array(&place.to_cols_array().map(f64::from));
    match &copies.places {
        Sampled::Still(places) => double(&places[copy]),
        Sampled::Moving(samples) => {
            let after = samples.partition_point(|(sample, _)| *sample <= time);
            let (before, after) = (after.saturating_sub(1), after.min(samples.len() - 1));
            let length = samples[after].0 - samples[before].0;
            let share = if length > 0.0 { ((time - samples[before].0) / length).clamp(0.0, 1.0) } else { 0.0 };
            let (a, b) = (double(&samples[before].1[copy]), double(&samples[after].1[copy]));
            if share == 0.0 { a } else { places::at(&Sampled::Moving(vec![(0.0, a), (1.0, b)]), share) }
        }
    }
}

fn same(a: DAffine3, b: DAffine3, size: f64) -> bool {
    let axes = |place: DAffine3| [place.matrix3.x_axis, place.matrix3.y_axis, place.matrix3.z_axis];
    let close = |(a, b): (DVec3, DVec3)| (a - b).length() <= SAME_AXIS * a.length().max(b.length());
    (a.translation - b.translation).length() <= 4.0 * SAME_PLACE * size && axes(a).into_iter().zip(axes(b)).all(close)
}
