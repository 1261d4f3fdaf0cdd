//! Shapes.

use super::*;
use crate::scene::{Color, Curves, Item, Number, Points, Shape, ShapeKind, Triangles};

const KINDS: &str =
    "trianglemesh plymesh sphere cylinder disk bilinearmesh loopsubdiv curve cone paraboloid hyperboloid";

/// Level of subdivision surfaces at most.
const MOST_LEVELS: i32 = 7;

impl Builder {
    /// `Shape "sphere" ..`
    pub fn shape(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<(), Fault> {
        let alpha = self.number(params, "alpha").unwrap_or(Number::Constant(1.0));
        let made = match kind {
            "trianglemesh" => self.triangles(params, place)?.map(ShapeKind::Mesh),
            "loopsubdiv" => self.cage(params, place)?,
            "bilinearmesh" => self.patches(params, place)?,
            "plymesh" => self.ply(params, place),
            "sphere" | "cylinder" | "disk" | "cone" | "paraboloid" | "hyperboloid" => {
                self.round(kind, params, place)?
            }
            "curve" => self.curve(params, place)?,
            _ => {
                self.warn_of_unknown(place, ("shape", kind), KINDS, "it is left out");
                return Ok(());
            }
        };
        if params.has("shadowalpha") {
            params.ignore(&["shadowalpha"]);
            self.warn(place, "opacity for shadows alone is left out");
        }
        params.ignore(&["S", "faceIndices", "splitdepth", "emissionfilename", "discarddegenerateUVs"]);
        let material = self.own_material(params, place)?;
        self.warn_of_unused(params, &format!("shape `{kind}`"));
        let Some(made) = made else { return Ok(()) };
        let in_object = self.groups.len() > 1;
        if in_object && self.state.emission != NONE {
            self.warn(place, "shapes of objects that emit light are drawn by pbrt without emission; here they emit");
        }
        let item = Item {
            shape: self.scene.shapes.len() as u32,
            material,
            emission: self.state.emission,
            inside: self.state.inside,
            alpha,
            place: self.state.ctm,
        };
        self.add(made, item, (kind, place))
    }

    fn add(&mut self, kind: ShapeKind, item: Item, (name, place): (&str, LineColumn)) -> Result<(), Fault> {
        self.take(bytes_of(&kind), place)?;
        let Some(&group) = self.groups.last() else { return Ok(()) };
        let items = &mut self.scene.groups[group as usize].items;
        // Hair is one directive per curve.
        if let (ShapeKind::Curves(more), Some(last), Some(shape)) = (&kind, items.last(), self.scene.shapes.last_mut())
            && let ShapeKind::Curves(curves) = &mut shape.kind
            && (Item { shape: last.shape, ..item }) == *last
            && last.shape + 1 == item.shape
            && curves.b_spline == more.b_spline
            && curves.normals.is_empty() == more.normals.is_empty()
        {
            curves.append(more);
            return Ok(());
        }
        items.push(item);
        let name = self.name_at(name, place);
        self.scene.shapes.push(Shape { name, kind, reversed: self.state.reversed });
        Ok(())
    }

    fn points(&mut self, params: &Params, place: LineColumn) -> Result<Option<Points>, Fault> {
        let Some(positions) = params.groups::<3>("P")?.filter(|positions| !positions.is_empty()) else {
            self.warn(place, "this shape has no points `P`: it is left out");
            return Ok(None);
        };
        let mut uvs = params.groups::<2>("uv")?;
        for other in ["st", "UV"] {
            uvs = uvs.or(params.groups::<2>(other)?);
        }
        let mut points =
            Points { normals: params.groups::<3>("N")?.unwrap_or_default(), uvs: uvs.unwrap_or_default(), positions };
        for (name, is_other) in [
            ("N", !points.normals.is_empty() && points.normals.len() != points.positions.len()),
            ("uv", !points.uvs.is_empty() && points.uvs.len() != points.positions.len()),
        ] {
            if is_other {
                self.warn(place, format!("`{name}` and `P` have different lengths: `{name}` is left out"));
            }
        }
        if points.normals.len() != points.positions.len() {
            points.normals.clear();
        }
        if points.uvs.len() != points.positions.len() {
            points.uvs.clear();
        }
        Ok(Some(points))
    }

    /// The indices of N corners per face. `usual` are those of a shape without any.
    fn faces<const N: usize>(
        &mut self,
        params: &Params,
        count: usize,
        usual: [u32; N],
        place: LineColumn,
    ) -> Option<Vec<[u32; N]>> {
        let Some(indices) = params.integers("indices") else {
            if count == N {
                return Some(vec![usual]);
            }
            self.warn(place, "this shape has no `indices`: it is left out");
            return None;
        };
        let (faces, rest) = indices.as_chunks::<N>();
        let is_valid = |face: &&[i32; N]| face.iter().all(|&index| usize::try_from(index).is_ok_and(|i| i < count));
        let valid: Vec<[u32; N]> = faces.iter().filter(is_valid).map(|face| face.map(|index| index as u32)).collect();
        let left_out = faces.len() - valid.len() + usize::from(!rest.is_empty());
        if left_out > 0 {
            self.warn(place, format!("{left_out} faces have indices of no point, or too few, and are left out"));
        }
        (!valid.is_empty()).then_some(valid)
    }

    fn triangles(&mut self, params: &Params, place: LineColumn) -> Result<Option<Triangles>, Fault> {
        let Some(points) = self.points(params, place)? else { return Ok(None) };
        let triangles = self.faces(params, points.positions.len(), [0, 1, 2], place);
        Ok(triangles.map(|triangles| Triangles { points, triangles }))
    }

    fn cage(&mut self, params: &Params, place: LineColumn) -> Result<Option<ShapeKind>, Fault> {
        let levels = params.integer("levels").or(params.integer("nlevels")).unwrap_or(3).clamp(0, MOST_LEVELS) as u32;
        params.ignore(&["scheme"]);
        Ok(self.triangles(params, place)?.map(|cage| ShapeKind::Loop { cage, levels }))
    }

    fn patches(&mut self, params: &Params, place: LineColumn) -> Result<Option<ShapeKind>, Fault> {
        let Some(points) = self.points(params, place)? else { return Ok(None) };
        let patches = self.faces(params, points.positions.len(), [0, 1, 2, 3], place);
        Ok(patches.map(|patches| ShapeKind::Bilinear { points, patches }))
    }

    fn ply(&mut self, params: &Params, place: LineColumn) -> Option<ShapeKind> {
        let displacement = params.has("displacement");
        params.ignore(&["displacement", "edgelength", "displacement.uvscale"]);
        if displacement {
            self.warn(place, "displacement is left out");
        }
        match params.text("filename") {
            Some(file) => Some(ShapeKind::Ply(self.path(file))),
            None => {
                self.warn(place, "`plymesh` has no `filename`: it is left out");
                None
            }
        }
    }

    fn round(&mut self, kind: &str, params: &Params, place: LineColumn) -> Result<Option<ShapeKind>, Fault> {
        let of = |name, usual| params.float(name).unwrap_or(usual);
        let radius = of("radius", 1.0);
        let phi_max = of("phimax", 360.0).clamp(0.0, 360.0);
        if radius <= 0.0 || phi_max <= 0.0 {
            self.warn(place, "`radius` and `phimax` must be above 0: the shape is left out");
            return Ok(None);
        }
        let usual =
            if kind == "sphere" { [-radius, radius] } else { [if kind == "cylinder" { -1.0 } else { 0.0 }, 1.0] };
        let heights = || {
            let (low, high) = (of("zmin", usual[0]), of("zmax", usual[1]));
            [low.min(high), low.max(high)]
        };
        Ok(Some(match kind {
            "disk" => {
                let (inner, height) = (of("innerradius", 0.0).clamp(0.0, radius), of("height", 0.0));
                ShapeKind::Disk { radius, inner, height, phi_max }
            }
            "sphere" => ShapeKind::Sphere { radius, heights: heights().map(|z| z.clamp(-radius, radius)), phi_max },
            "cone" => ShapeKind::Cone { radius, height: of("height", 1.0), phi_max },
            "paraboloid" => ShapeKind::Paraboloid { radius, heights: heights().map(|z| z.max(0.0)), phi_max },
            "hyperboloid" => {
                let end = |name, usual| Ok::<_, Fault>(params.triple(name)?.unwrap_or(usual));
                ShapeKind::Hyperboloid { ends: [end("p1", [0.0; 3])?, end("p2", [1.0; 3])?], phi_max }
            }
            _ => ShapeKind::Cylinder { radius, heights: heights(), phi_max },
        }))
    }

    fn curve(&mut self, params: &Params, place: LineColumn) -> Result<Option<ShapeKind>, Fault> {
        let Some(points) = params.groups::<3>("P")? else {
            self.warn(place, "this curve has no points `P`: it is left out");
            return Ok(None);
        };
        let b_spline = params.text("basis") == Some("bspline");
        let quadratic = params.integer("degree") == Some(2);
        let points = if quadratic { cubic(&points, b_spline) } else { points };
        let (count, is_whole) = if b_spline && !quadratic {
            (points.len(), points.len() >= 4)
        } else {
            (points.len(), points.len() >= 4 && points.len() % 3 == 1)
        };
        if !is_whole {
            self.warn(place, format!("a curve of {count} points has no whole segments: it is left out"));
            return Ok(None);
        }
        let width = params.float("width").unwrap_or(1.0);
        let widths = [params.float("width0").unwrap_or(width), params.float("width1").unwrap_or(width)];
        let kind = params.text("type").unwrap_or("flat").to_owned();
        let normals = match params.groups::<3>("N")? {
            Some(normals) if kind == "ribbon" && normals.len() >= 2 => vec![[normals[0], normals[normals.len() - 1]]],
            _ => Vec::new(),
        };
        Ok(Some(ShapeKind::Curves(Curves {
            counts: vec![count as u32],
            points,
            widths: vec![widths],
            normals,
            b_spline: b_spline && !quadratic,
        })))
    }
}

impl Curves {
    fn append(&mut self, other: &Self) {
        self.points.extend_from_slice(&other.points);
        self.counts.extend_from_slice(&other.counts);
        self.widths.extend_from_slice(&other.widths);
        self.normals.extend_from_slice(&other.normals);
    }
}

/// The points of cubic Bézier curves for quadratic ones.
fn cubic(points: &[[f32; 3]], b_spline: bool) -> Vec<[f32; 3]> {
    let mix = |a: [f32; 3], b: [f32; 3], share: f32| [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * share);
    let mut bezier: Vec<[[f32; 3]; 3]> = Vec::new();
    if b_spline {
        bezier.extend(points.windows(3).map(|w| [mix(w[0], w[1], 0.5), w[1], mix(w[1], w[2], 0.5)]));
    } else {
        let starts = (0..points.len().saturating_sub(2)).step_by(2);
        bezier.extend(starts.map(|i| [points[i], points[i + 1], points[i + 2]]));
    }
    let mut cubic: Vec<[f32; 3]> = bezier.first().map(|first| first[0]).into_iter().collect();
    for [a, b, c] in bezier {
        cubic.extend([mix(a, b, 2.0 / 3.0), mix(c, b, 2.0 / 3.0), c]);
    }
    cubic
}

/// Bytes of memory of a shape, with its name and its item.
fn bytes_of(kind: &ShapeKind) -> u64 {
    let of_points = |points: &Points| 12 * points.positions.len() + 12 * points.normals.len() + 8 * points.uvs.len();
    let bytes = match kind {
        ShapeKind::Mesh(mesh) | ShapeKind::Loop { cage: mesh, .. } => {
            of_points(&mesh.points) + 12 * mesh.triangles.len()
        }
        ShapeKind::Bilinear { points, patches } => of_points(points) + 16 * patches.len(),
        ShapeKind::Curves(curves) => 12 * curves.points.len() + 40 * curves.counts.len(),
        _ => 0,
    };
    bytes as u64 + 512
}

/// Whether a colour is black everywhere.
pub fn is_black(color: &Color) -> bool {
    matches!(color, Color::Constant([r, g, b]) if r.max(*g).max(*b) <= 0.0)
}
