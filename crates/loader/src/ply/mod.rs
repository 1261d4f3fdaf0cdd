//! PLY, the format of scanned models (Turk 1994): vertices with attributes, and polygons or triangle strips. Other elements are ignored.
//! `header` reads the declarations, `values` reads numbers, `rows` reads many vertices or triangles of a binary file at once.

mod header;
mod rows;
#[cfg(test)]
mod tests;
mod values;

use super::{
    LoadError, files,
    geometry::{indexed::Indexed, polygons::is_finite},
    meshes::{FileLocation, MeshFormat, MeshOptions, ParsedMesh},
    pieces::Pieces,
};
use flate2::read::MultiGzDecoder;
use header::{Element, Header, Kind, Number, Property};
use rows::{TriangleRows, VertexRows};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};
use throng_base::math::linear_from_srgb;
use throng_scene::TriangleMesh;
use values::Values;

/// The format of `.ply` files.
pub struct Ply;

impl MeshFormat for Ply {
    fn extension(&self) -> &'static str {
        "ply"
    }

    fn has_polygons(&self) -> bool {
        true
    }

    fn parse(&self, path: &Path, options: &MeshOptions, _allow: &[PathBuf]) -> Result<Box<dyn ParsedMesh>, LoadError> {
        let mut mesh = read(files::pieces(path)?).map_err(|fault| fault.of(path))?;
        mesh.warnings.iter_mut().for_each(|warning| *warning = format!("{}: {warning}", path.display()));
        mesh.finish(path, options)
    }
}

/// Reads a file, which is compressed if its name ends in `.gz`, as triangles that are flat where the file has no normals. Also returns
/// warnings.
///
/// # Errors
/// As [`MeshFormat::parse`].
pub fn read_unsmoothed(path: &Path) -> Result<(TriangleMesh, Vec<String>), LoadError> {
    let is_packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let mesh = match is_packed {
        false => read(files::pieces(path)?),
        true => {
            let (file, length) = files::open(path)?;
            let unpacked = unpacked_length(&file, length).map_err(|e| LoadError::file(path, files::describe(&e)))?;
            read(Pieces::new(MultiGzDecoder::new(file), unpacked))
        }
    };
    let mut mesh = mesh.map_err(|fault| fault.of(path))?;
    mesh.warnings.iter_mut().for_each(|warning| *warning = format!("{}: {warning}", path.display()));
    mesh.unsmoothed(path)
}

/// Length of the content of a gzip file, from its last four bytes, but at most what so many bytes can hold.
fn unpacked_length(mut file: &File, length: u64) -> io::Result<u64> {
    const MOST_PER_BYTE: u64 = 1032;
    let mut last = [0; 4];
    file.seek(SeekFrom::Start(length.saturating_sub(4)))?;
    file.read_exact(&mut last)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(u64::from(u32::from_le_bytes(last)).min(length.saturating_mul(MOST_PER_BYTE)))
}

/// An error, and its location in the file.
#[derive(Debug)]
pub struct Fault {
    place: FileLocation,
    message: String,
}

impl Fault {
    fn line(line: usize, message: impl Into<String>) -> Self {
        Self { place: FileLocation::Line(line), message: message.into() }
    }

    fn of(self, path: &Path) -> LoadError {
        self.place.error(path, &self.message)
    }
}

/// Reads a whole file.
fn read<R: Read>(mut file: Pieces<R>) -> Result<Indexed, Fault> {
    let header = header::read(&mut file)?;
    let vertices = header.elements.iter().find(|e| e.name == "vertex").map_or(0, |e| e.count);
    let mut values = Values::new(file, &header);
    let mut mesh = Indexed::default();
    for element in &header.elements {
        check_count(element, &header, &values)?;
        match element.name.as_str() {
            "vertex" => read_vertices(element, &mut values, &mut mesh)?,
            "face" => read_faces(element, &mut values, vertices, &mut mesh)?,
            "tristrips" => read_strips(element, &mut values, vertices, &mut mesh)?,
            _ => {
                for _ in 0..element.count {
                    element.properties.iter().try_for_each(|property| skip(&mut values, property.kind))?;
                }
            }
        }
    }
    Ok(mesh)
}

/// Checks that the rest of the file has enough bytes for an element's count.
fn check_count<R: Read>(element: &Element, header: &Header, values: &Values<R>) -> Result<(), Fault> {
    let Element { name, count, properties } = element;
    let least = element.least(header.encoding);
    if *count > 0 && properties.is_empty() {
        return Err(Fault::line(header.lines, format!("the element `{name}` has no properties")));
    }
    if count.checked_mul(least).is_none_or(|bytes| bytes > values.left()) {
        return Err(values.fault(format!("{count} elements `{name}` do not fit into the rest of the file")));
    }
    Ok(())
}

fn skip<R: Read>(values: &mut Values<R>, kind: Kind) -> Result<(), Fault> {
    match kind {
        Kind::Scalar(number) => values.skip(1, number),
        Kind::List { count, item } => {
            let length = values.length(count, item)?;
            values.skip(length, item)
        }
    }
}

/// Position of a property's value in the row of a vertex or face, which has position, normal, texture coordinates and colour.
fn column(name: &str) -> Option<usize> {
    Some(match name {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        "nx" | "normal_x" => 3,
        "ny" | "normal_y" => 4,
        "nz" | "normal_z" => 5,
        "s" | "u" | "texture_u" | "texture_s" => 6,
        "t" | "v" | "texture_v" | "texture_t" => 7,
        "red" | "r" | "diffuse_red" => 8,
        "green" | "g" | "diffuse_green" => 9,
        "blue" | "b" | "diffuse_blue" => 10,
        "alpha" | "a" | "diffuse_alpha" => 11,
        _ => return None,
    })
}

fn read_vertices<R: Read>(element: &Element, values: &mut Values<R>, mesh: &mut Indexed) -> Result<(), Fault> {
    let columns: Vec<Option<usize>> = element.properties.iter().map(column_of).collect();
    let has = |wanted: std::ops::Range<usize>| wanted.into_iter().all(|c| columns.contains(&Some(c)));
    if element.count > 0 && !has(0..3) {
        return Err(values.fault("vertices need the properties x, y and z"));
    }
    let (normals, uvs, colors) = (has(3..6), has(6..8), has(8..11));
    let reserved = |wanted: bool| if wanted { element.count } else { 0 };
    mesh.positions.reserve_exact(element.count);
    mesh.normals.reserve_exact(reserved(normals));
    mesh.uvs.reserve_exact(reserved(uvs));
    mesh.colors.reserve_exact(reserved(colors));
    let mut faulty_uvs = 0;
    let mut add = |row: Row, place: FileLocation| {
        let [x, y, z, nx, ny, nz, mut u, mut v, color @ ..] = row;
        if !is_finite(&[x, y, z]) {
            mesh.first_not_finite.get_or_insert(place);
        } else if !(u.is_finite() && v.is_finite()) {
            faulty_uvs += 1;
        }
        if !(u.is_finite() && v.is_finite()) {
            (u, v) = (0.0, 0.0);
        }
        mesh.positions.push([x, y, z]);
        mesh.normals.extend(normals.then_some([nx, ny, nz]));
        mesh.uvs.extend(uvs.then_some([u, v]));
        mesh.colors.extend(colors.then_some(color));
    };
    let fixed = VertexRows::of(element);
    let mut left = element.count;
    while left > 0 {
        if let Some(fixed) = &fixed
            && let some @ 1.. = fixed.read(left, values, &mut add)?
        {
            left -= some;
            continue;
        }
        let row = read_row(element, &columns, values)?;
        add(row, values.place());
        left -= 1;
    }
    if faulty_uvs > 0 {
        mesh.warnings.push(format!("{faulty_uvs} vertices have texture coordinates that are not finite, and get 0,0"));
    }
    Ok(())
}

fn read_row<R: Read>(element: &Element, columns: &[Option<usize>], values: &mut Values<R>) -> Result<Row, Fault> {
    let mut row = BLANK;
    for (property, column) in element.properties.iter().zip(columns) {
        match (property.kind, *column) {
            (Kind::Scalar(number), Some(column)) => row[column] = value(values.next(number)?, number, column),
            (kind, _) => skip(values, kind)?,
        }
    }
    Ok(row)
}

/// Values of a vertex or face, by [`column`].
type Row = [f32; 12];

/// Default row of a vertex or face.
const BLANK: Row = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];

fn column_of(property: &Property) -> Option<usize> {
    match property.kind {
        Kind::Scalar(_) => column(&property.name),
        Kind::List { .. } => None,
    }
}

/// Converts a number to a vertex value. Colours are clamped to 0 to 1; integer colours are sRGB, as scanners write them.
fn value(x: f64, number: Number, column: usize) -> f32 {
    let share = || (x / number.greatest()).clamp(0.0, 1.0) as f32;
    match column {
        8..11 if x.is_nan() => 0.0,
        8..11 if number.is_integer() => linear_from_srgb(share()),
        8..12 => share(),
        _ => x as f32,
    }
}

/// Number of triangles of faces that are the last element of a file; a guess for others.
fn triangle_count<R: Read>(faces: &Element, values: &Values<R>) -> usize {
    let is_text = values.is_text();
    let (mut most, mut each) = (faces.count, 0);
    for property in &faces.properties {
        each += match property.kind {
            _ if is_text => 2,
            Kind::Scalar(number) | Kind::List { count: number, .. } => number.size(),
        };
    }
    for property in faces.properties.iter().filter(|property| is_list(property)) {
        let Kind::List { item, .. } = property.kind else { continue };
        // A face has two triangles fewer than corners.
        let corners = values.left().saturating_sub(each * faces.count) / if is_text { 2 } else { item.size() };
        let others = 2 * faces.count;
        most = if is_text { faces.count.min(corners / 3) } else { corners.saturating_sub(others) };
    }
    most
}

/// Whether a property is the index list of a face.
fn is_list(property: &Property) -> bool {
    matches!(property.kind, Kind::List { .. }) && matches!(property.name.as_str(), "vertex_indices" | "vertex_index")
}

fn need_list<R: Read>(element: &Element, values: &Values<R>) -> Result<(), Fault> {
    if element.count == 0 || element.properties.iter().any(is_list) {
        Ok(())
    } else {
        Err(values.fault(format!("elements `{}` need a list `vertex_indices`", element.name)))
    }
}

/// Reads polygons as fans. Concave ones are split later.
fn read_faces<R: Read>(
    element: &Element,
    values: &mut Values<R>,
    vertices: usize,
    mesh: &mut Indexed,
) -> Result<(), Fault> {
    need_list(element, values)?;
    let columns: Vec<Option<usize>> = element.properties.iter().map(column_of).collect();
    let are_colored = (8..11).all(|c| columns.contains(&Some(c)));
    mesh.triangles.reserve_exact(triangle_count(element, values));
    if are_colored {
        mesh.face_colors.resize(mesh.triangles.len(), [1.0; 4]);
    }
    let fixed = TriangleRows::of(element).filter(|_| !are_colored);
    let mut corners = Vec::new();
    let mut left = element.count;
    while left > 0 {
        if let Some(fixed) = &fixed
            && let some @ 1.. = fixed.read((left, vertices), values, &mut mesh.triangles)?
        {
            left -= some;
            continue;
        }
        for _ in 0..left.min(rows::TOGETHER) {
            left -= 1;
            let start = mesh.triangles.len();
            let mut row = BLANK;
            for (property, column) in element.properties.iter().zip(&columns) {
                match (property.kind, *column) {
                    (Kind::List { count, item }, _) if is_list(property) => {
                        read_indices((count, item), values, vertices, false, &mut corners)?;
                        add_polygon(&corners, &mut mesh.triangles);
                    }
                    (Kind::Scalar(number), Some(column)) => row[column] = value(values.next(number)?, number, column),
                    (kind, _) => skip(values, kind)?,
                }
            }
            let end = mesh.triangles.len();
            if end > start + 1 {
                mesh.polygons.push(start as u32..end as u32);
            }
            if let (true, [.., r, g, b, a]) = (are_colored, row) {
                mesh.face_colors.resize(end, [r, g, b, a]);
            }
        }
    }
    Ok(())
}

fn read_strips<R: Read>(
    element: &Element,
    values: &mut Values<R>,
    vertices: usize,
    mesh: &mut Indexed,
) -> Result<(), Fault> {
    need_list(element, values)?;
    let mut corners = Vec::new();
    for _ in 0..element.count {
        for property in &element.properties {
            match property.kind {
                Kind::List { count, item } if is_list(property) => {
                    read_indices((count, item), values, vertices, true, &mut corners)?;
                    add_strips(&corners, &mut mesh.triangles);
                }
                kind => skip(values, kind)?,
            }
        }
    }
    Ok(())
}

/// Reads a list of indices into `corners`. An index of -1, where it is allowed, becomes None.
fn read_indices<R: Read>(
    (count, item): (Number, Number),
    values: &mut Values<R>,
    vertices: usize,
    restarts: bool,
    corners: &mut Vec<Option<u32>>,
) -> Result<(), Fault> {
    corners.clear();
    for _ in 0..values.length(count, item)? {
        let index = values.next(item)?;
        let known = index >= 0.0 && index.fract() == 0.0 && index < vertices as f64;
        if !(known || restarts && index == -1.0) {
            let message = format!("vertex {index} (from 0) is used, but the file has {vertices}");
            return Err(values.fault(message));
        }
        corners.push(known.then_some(index as u32));
    }
    Ok(())
}

/// Adds the fan of a polygon.
fn add_polygon(corners: &[Option<u32>], triangles: &mut Vec<[u32; 3]>) {
    if let [Some(first), others @ ..] = corners {
        for pair in others.windows(2) {
            if let [Some(b), Some(c)] = *pair {
                triangles.push([*first, b, c]);
            }
        }
    }
}

/// Adds triangle strips, which are separated by None. Every second triangle has reversed winding.
fn add_strips(corners: &[Option<u32>], triangles: &mut Vec<[u32; 3]>) {
    for strip in corners.split(Option::is_none) {
        for (i, corners) in strip.windows(3).enumerate() {
            if let [Some(a), Some(b), Some(c)] = *corners {
                triangles.push(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
            }
        }
    }
}
