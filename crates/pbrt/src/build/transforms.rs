//! Directives that multiply the current transform.

use crate::{
    lexer::{Fault, Kind, Lexer, LineColumn},
    params::number,
};
use glam::{DAffine3, DMat3, DVec3};

/// The directives.
pub const NAMES: [&str; 5] = ["Translate", "Scale", "Rotate", "LookAt", "ConcatTransform"];

/// The transform that a directive multiplies the current one by; None if the name is of no such directive.
///
/// # Errors
/// If numbers are missing, or if the transform cannot be inverted.
pub fn read(lexer: &mut Lexer, name: &str, place: LineColumn) -> Result<Option<DAffine3>, Fault> {
    let transform = match name {
        "Translate" => DAffine3::from_translation(DVec3::from(numbers::<3>(lexer, name, place)?)),
        "Scale" => DAffine3::from_scale(DVec3::from(numbers::<3>(lexer, name, place)?)),
        "Rotate" => {
            let [degrees, x, y, z] = numbers(lexer, name, place)?;
            let Some(axis) = DVec3::new(x, y, z).try_normalize() else {
                return Err(Fault::at(place, "the axis of `Rotate` has no direction: correct it"));
            };
            DAffine3::from_axis_angle(axis, degrees.to_radians())
        }
        "LookAt" => look_at(numbers(lexer, name, place)?)
            .ok_or_else(|| Fault::at(place, "`LookAt` needs a target that is not at the eye, nor straight up"))?,
        "ConcatTransform" => matrix(numbers(lexer, name, place)?),
        _ => return Ok(None),
    };
    Ok(Some(transform))
}

/// The numbers of a directive, in brackets or without.
///
/// # Errors
/// If there are not as many numbers.
pub fn numbers<const N: usize>(lexer: &mut Lexer, name: &str, place: LineColumn) -> Result<[f64; N], Fault> {
    let mut values = [0.0; N];
    let lacks = || Fault::at(place, format!("`{name}` needs {N} numbers"));
    let is_list = lexer.peek()?.is_some_and(|token| token.kind == Kind::Open);
    if is_list {
        lexer.next()?;
    }
    for value in &mut values {
        let token = lexer.next()?.filter(|token| token.kind == Kind::Word).ok_or_else(lacks)?;
        *value = number(lexer.bytes(&token)).ok_or_else(lacks)?;
    }
    if is_list {
        lexer.next()?.filter(|token| token.kind == Kind::Close).ok_or_else(lacks)?;
    }
    Ok(values)
}

/// The transform of 16 numbers, which are the columns of a matrix. What makes it projective is left out.
pub fn matrix(numbers: [f64; 16]) -> DAffine3 {
    let column = |index: usize| DVec3::from_slice(&numbers[4 * index..4 * index + 3]);
    let w = if numbers[15] == 0.0 { 1.0 } else { numbers[15] };
    DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)) * (1.0 / w), translation: column(3) / w }
}

/// The transform from the world to a camera at the eye, which looks along +Z.
fn look_at(numbers: [f64; 9]) -> Option<DAffine3> {
    let [eye, target, up] = [0, 3, 6].map(|first| DVec3::from_slice(&numbers[first..first + 3]));
    let forward = (target - eye).try_normalize()?;
    let right = up.try_normalize()?.cross(forward).try_normalize()?;
    let world_from_camera =
        DAffine3 { matrix3: DMat3::from_cols(right, forward.cross(right), forward), translation: eye };
    Some(world_from_camera.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transform(text: &'static str) -> DAffine3 {
        let mut lexer = Lexer::new(text.as_bytes());
        let token = lexer.next().unwrap().unwrap();
        let name = lexer.text(&token);
        read(&mut lexer, &name, token.place).unwrap().unwrap()
    }

    #[test]
    fn angles_are_degrees_and_matrices_are_columns() {
        let turned = transform("Rotate 90 0 0 1").transform_point3(DVec3::X);
        assert!(turned.distance(DVec3::Y) < 1e-12, "{turned}");
        let moved = transform("ConcatTransform [ 1 0 0 0 0 1 0 0 0 0 1 0 7 8 9 1 ]");
        assert_eq!(moved.translation, DVec3::new(7.0, 8.0, 9.0));
    }

    #[test]
    fn a_camera_looks_along_z_with_x_to_the_right_of_a_left_handed_space() {
        let camera = transform("LookAt 0 0 -5  0 0 0  0 1 0");
        assert!(camera.transform_point3(DVec3::ZERO).distance(DVec3::new(0.0, 0.0, 5.0)) < 1e-12);
        assert!(camera.transform_vector3(DVec3::X).distance(DVec3::X) < 1e-12);
    }

    #[test]
    fn missing_numbers_are_errors() {
        for text in ["Translate 1 2", "Scale [ 1 2 3", "Rotate 1 0 0 0", "LookAt 1 1 1 1 1 1 0 1 0", "Scale 1 x 1"] {
            let mut lexer = Lexer::new(text.as_bytes());
            let token = lexer.next().unwrap().unwrap();
            let name = lexer.text(&token);
            assert!(read(&mut lexer, &name, token.place).is_err(), "{text}");
        }
    }
}
