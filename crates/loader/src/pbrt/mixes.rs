//! Mixes of two materials as one.

use super::{
    materials::{Made, plain},
    textures::apply,
};
use throng_usd::{Computed, Input, Operation, Source, Surface};

/// Depth of nested mixes at most.
pub const DEEPEST: usize = 8;

/// A mix with `amount` of the second material. One of visible and of invisible parts is a cutout.
pub fn mixed(a: Made, b: Made, amount: Input<f32>) -> Made {
    if amount.source.is_none() && amount.value <= 0.0 {
        return a;
    }
    if amount.source.is_none() && amount.value >= 1.0 {
        return b;
    }
    match (a, b) {
        (Made::Nothing, Made::Nothing) => Made::Nothing,
        (Made::Nothing, Made::Surface(surface)) => Made::Surface(cutout(surface, amount)),
        (Made::Surface(surface), Made::Nothing) => Made::Surface(cutout(surface, inverted(amount))),
        (Made::Surface(a), Made::Surface(b)) => Made::Surface(Box::new(blended(*a, *b, amount))),
        // Hair is no surface: the larger part is shown.
        (a, b) => {
            if amount.source.is_none() && amount.value > 0.5 {
                b
            } else {
                a
            }
        }
    }
}

fn cutout(surface: Box<Surface>, opacity: Input<f32>) -> Box<Surface> {
    Box::new(Surface { opacity, keeps_reflections: false, ..*surface })
}

fn inverted(input: Input<f32>) -> Input<f32> {
    let tree = match number_tree(&input) {
        Computed::Constant([value, ..]) => return Input::of(1.0 - value),
        tree => apply(Operation::Subtract, [Computed::Constant([1.0; 4]), tree]),
    };
    Input { value: 1.0, source: Some(Source::Computed(Box::new(tree))) }
}

/// The surface whose numbers and colours are between those of both.
fn blended(a: Surface, b: Surface, amount: Input<f32>) -> Surface {
    let tree = number_tree(&amount);
    let share = tree.typical()[0].clamp(0.0, 1.0);
    let lerp = |a: f32, b: f32| a + (b - a) * share;
    let color = |a: &Input<[f32; 3]>, b: &Input<[f32; 3]>| match apply(
        Operation::Mix,
        [color_tree(b), color_tree(a), tree.clone()],
    ) {
        Computed::Constant([r, g, b, _]) => Input::of([r, g, b]),
        tree => Input { value: [1.0; 3], source: Some(Source::Computed(Box::new(tree))) },
    };
    let number =
        |a: &Input<f32>, b: &Input<f32>| match apply(Operation::Mix, [number_tree(b), number_tree(a), tree.clone()]) {
            Computed::Constant([value, ..]) => Input::of(value),
            tree => Input { value: 1.0, source: Some(Source::Computed(Box::new(tree))) },
        };
    let larger = if share > 0.5 { &b } else { &a };
    Surface {
        diffuse_color: color(&a.diffuse_color, &b.diffuse_color),
        metallic: number(&a.metallic, &b.metallic),
        // A diffuse surface has no roughness of its own.
        roughness: match (is_matte(&a), is_matte(&b)) {
            (true, false) => b.roughness.clone(),
            (false, true) => a.roughness.clone(),
            _ => number(&a.roughness, &b.roughness),
        },
        ior: lerp(a.ior, b.ior),
        specular: number(&a.specular, &b.specular),
        specular_tint: color(&a.specular_tint, &b.specular_tint),
        transmission: number(&a.transmission, &b.transmission),
        volume: a.volume.or(b.volume),
        diffuse_transmission: number(&a.diffuse_transmission, &b.diffuse_transmission),
        diffuse_transmission_color: color(&a.diffuse_transmission_color, &b.diffuse_transmission_color),
        opacity: number(&a.opacity, &b.opacity),
        clearcoat: number(&a.clearcoat, &b.clearcoat),
        clearcoat_roughness: Input::of(lerp(a.clearcoat_roughness.value, b.clearcoat_roughness.value)),
        sheen_color: color(&a.sheen_color, &b.sheen_color),
        sheen_roughness: Input::of(0.5),
        anisotropy: larger.anisotropy,
        normal: larger.normal.clone(),
        ..plain()
    }
}

fn is_matte(surface: &Surface) -> bool {
    let is_zero = |input: &Input<f32>| input.source.is_none() && input.value == 0.0;
    [&surface.metallic, &surface.specular, &surface.transmission].into_iter().all(is_zero)
}

fn number_tree(input: &Input<f32>) -> Computed {
    match &input.source {
        Some(Source::Picture(read)) => Computed::Channel(read.clone()),
        Some(Source::Computed(tree)) => (**tree).clone(),
        _ => Computed::Constant([input.value; 4]),
    }
}

fn color_tree(input: &Input<[f32; 3]>) -> Computed {
    let [r, g, b] = input.value;
    match &input.source {
        Some(Source::Picture(read)) => Computed::Picture(read.clone()),
        Some(Source::Computed(tree)) => (**tree).clone(),
        _ => Computed::Constant([r, g, b, 1.0]),
    }
}
