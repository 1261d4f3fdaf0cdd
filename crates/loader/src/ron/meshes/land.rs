//! Entries of `meshes` that are terrains or ribbons.

use super::curves::Curves;
use crate::{
    LoadError,
    budget::Budget,
    image,
    land::{
        ground::Ground,
        ribbon::{MOST_STEPS, Ribbon},
        terrain::{self, Terrain, bilinear},
    },
    meshes::MeshSource,
    ron::{
        checked::{Fields, existing},
        file::Source,
        placing::resolved::ModelGroup,
        source::Place,
    },
    suggest,
};
use glam::{Affine3, Vec3, Vec3Swizzles};
use throng_scene::{
    TriangleMesh,
    curve::Curve,
    desc::{Bed, BedLine, NoiseDesc, RibbonDesc, TerrainDesc},
};

/// Maximum number of cells along a side.
const MOST_CELLS: u32 = 8192;
/// Bytes per vertex of a terrain: its position, normal and UV in the mesh, its height, and its attributes for shading.
const BYTES_PER_VERTEX: u64 = 12 + 12 + 8 + 4 + 20;
/// Bytes per triangle of a terrain: its indices, and its measured share of a fast tree build. A build of high quality takes up to 400
/// bytes.
const BYTES_PER_TRIANGLE: u64 = 12 + 130;
/// Default number of cells along X.
const DEFAULT_CELLS: u32 = 256;
/// Maximum number of wavelengths across a terrain, since cells of the noise have 32-bit integer coordinates.
const MOST_WAVES: f32 = 1e9;

/// Bytes of memory of a terrain with this number of cells, from loading to rendering.
fn bytes_of([columns, rows]: [usize; 2]) -> u64 {
    let (vertices, triangles) = ((columns + 1) as u64 * (rows + 1) as u64, 2 * columns as u64 * rows as u64);
    vertices * BYTES_PER_VERTEX + triangles * BYTES_PER_TRIANGLE
}

/// Creates terrains and ribbons.
pub struct Land<'a> {
    pub source: &'a Source,
    pub curves: &'a Curves,
    pub budget: &'a Budget,
    /// The earlier models that are groups.
    pub groups: &'a [ModelGroup],
}

impl Land<'_> {
    fn fail<T>(&self, place: &Place, message: impl AsRef<str>) -> Result<T, LoadError> {
        Err(self.source.error(place, message))
    }

    fn curve(&self, name: &str, place: &Place) -> Result<&Curve, LoadError> {
        self.curves.get(self.source, name, &place.key("curve")).map(|curve| &**curve)
    }

    /// The mesh of a terrain.
    ///
    /// # Errors
    /// If a curve is unknown, if a number is out of range, or if a picture is missing or damaged.
    pub fn terrain(&self, desc: &TerrainDesc, place: &Place) -> Result<TriangleMesh, LoadError> {
        let size = desc.size.0;
        let mut terrain = match (&desc.file, &desc.noise) {
            (Some(_), Some(_)) => return self.fail(&place.key("noise"), "both `file` and `noise`: remove one"),
            (Some(file), None) => self.of_picture(file, desc, place)?,
            (None, Some(noise)) => self.of_noise(noise, desc, place)?,
            (None, None) => {
                let cells = self.cells(desc, [DEFAULT_CELLS; 2], place)?;
                Terrain::new(size.xz(), cells, |_| 0.0)
            }
        };
        if let Some(valley) = &desc.valley {
            let place = place.key("valley");
            let fields = Fields { source: self.source, place: &place };
            let (width, blend) =
                (fields.not_negative(valley.width, "width")?, fields.above_zero(valley.blend, "blend")?);
            terrain.open_valley(self.curve(&valley.curve, &place)?, width, blend);
        }
        let beds = place.key("level");
        for (i, bed) in desc.level.iter().enumerate() {
            self.level(&mut terrain, bed, &beds.index(i))?;
        }
        Ok(terrain.mesh())
    }

    fn of_noise(&self, noise: &NoiseDesc, desc: &TerrainDesc, place: &Place) -> Result<Terrain, LoadError> {
        let cells = self.cells(desc, [DEFAULT_CELLS; 2], place)?;
        let place = place.key("noise");
        let fields = Fields { source: self.source, place: &place };
        let octaves = fields.whole(noise.octaves, "octaves", 1..=16)?;
        let scale = fields.above_zero(noise.scale, "scale")?;
        let waves = desc.size.0.xz().abs().max_element() / scale * 2f32.powi(octaves as i32 - 1);
        if waves > MOST_WAVES {
            let message = "scale, the wavelength of the largest octave, is too short for a terrain of this size";
            return self.fail(&place.key("scale"), message);
        }
        Ok(Terrain::of_noise([noise.seed, octaves], scale, desc.size.0, cells))
    }

    fn of_picture(&self, file: &str, desc: &TerrainDesc, place: &Place) -> Result<Terrain, LoadError> {
        let path = existing(self.source, file, "the picture of heights", &place.key("file"))?;
        let (columns, heights) = image::load_brightness(&path)?;
        let rows = heights.len() / columns;
        if columns < 2 || rows < 2 || heights.iter().any(|h| !h.is_finite()) {
            let message =
                format!("{} is no picture of heights: it has one row, or values that are no numbers", path.display());
            return self.fail(&place.key("file"), message);
        }
        let cells = self.cells(desc, [columns as u32 - 1, rows as u32 - 1], place)?;
        Ok(Terrain::new(desc.size.0.xz(), cells, |share| desc.size.0.y * bilinear(&heights, [columns, rows], share)))
    }

    /// Number of cells along X and Z. `own` is the size of the picture, or the default along X. Cells that do not come from a picture are
    /// made square.
    fn cells(&self, desc: &TerrainDesc, own: [u32; 2], place: &Place) -> Result<[usize; 2], LoadError> {
        let fields = Fields { source: self.source, place };
        let is_picture = desc.file.is_some() && desc.cells.is_none();
        let columns = match desc.cells {
            Some(cells) => fields.whole(cells, "cells", 2..=MOST_CELLS)?,
            None => own[0].min(MOST_CELLS),
        };
        let square = |columns: u32| (columns as f32 * desc.size.0.z / desc.size.0.x).round().max(2.0) as u32;
        let rows = if is_picture { own[1] } else { square(columns) }.min(MOST_CELLS);
        let cells = [columns as usize, rows as usize];
        self.budget.take_asked(bytes_of(cells)).map_err(|lack| {
            let fits = |columns: u32| {
                bytes_of([columns, square(columns).min(MOST_CELLS)].map(|n| n as usize)) <= self.budget.free()
            };
            let fewer = (0..columns).rev().find(|&fewer| fits(fewer)).unwrap_or(0);
            let what = format!("a terrain of {columns} x {rows} cells, with its tree, {lack}");
            let message = match fewer {
                0..2 => format!("{what}: free some, or use a machine with more"),
                _ => format!("{what}: write `cells: {fewer}` or less, free some memory, or use a machine with more"),
            };
            self.source.error(&place.key("cells"), message)
        })?;
        Ok(cells)
    }

    fn level(&self, terrain: &mut Terrain, bed: &Bed, place: &Place) -> Result<(), LoadError> {
        let fields = Fields { source: self.source, place };
        let on_curve = bed.follow == BedLine::Curve;
        let width = fields.above_zero(bed.width, "width")?;
        let own = if on_curve { 0.0 } else { 4.0 * width };
        let shape = terrain::Bed {
            width,
            blend: fields.not_negative(bed.blend, "blend")?,
            depth: bed.depth.0,
            on_curve,
            smooth: bed.smooth.map_or(Ok(own), |smooth| fields.not_negative(smooth, "smooth"))?,
        };
        terrain.level(self.curve(&bed.curve, place)?, &shape);
        Ok(())
    }

    /// The mesh of a ribbon, and a warning if it overlaps itself. `above` are the earlier meshes of the file.
    ///
    /// # Errors
    /// If a curve or mesh is unknown, if a number is out of range, or if the curve leaves the mesh on which the ribbon lies.
    pub fn ribbon(
        &self,
        desc: &RibbonDesc,
        above: &[MeshSource],
        place: &Place,
    ) -> Result<(TriangleMesh, Option<String>), LoadError> {
        let fields = Fields { source: self.source, place };
        let curve = self.curve(&desc.curve, place)?;
        let width = fields.above_zero(desc.width, "width")?;
        let step = desc.step.map_or(Ok(width * 0.25), |step| fields.above_zero(step, "step"))?;
        let range = fields.part(desc.from, desc.to, curve.length())?;
        if (range[1] - range[0]) / step > MOST_STEPS {
            let message = format!("the ribbon is {} long, too long for this small step", range[1] - range[0]);
            return self.fail(&place.key("step"), message);
        }
        let ground = desc.on.as_deref().map(|on| self.ground(on, above, &place.key("on"))).transpose()?;
        let ribbon = Ribbon { width, lift: desc.lift.0, step, range };
        let mesh = ribbon.mesh(curve, ground.as_ref()).or_else(|Vec3 { x, z, .. }| {
            let on = desc.on.as_deref().unwrap_or_default();
            let message = format!("the ribbon leaves `{on}` at x = {x}, z = {z}: shorten it with `from` and `to`");
            self.fail(&place.key("on"), message)
        })?;
        let warning = ribbon.too_tight(curve).map(|(radius, Vec3 { x, z, .. })| {
            format!(
                "{place}: the ribbon is {width} wide and lies on itself at x = {x:.3}, z = {z:.3}, where its curve bends with a radius of \
                 {radius:.3}: make it narrower than twice that, or the bend wider"
            )
        });
        Ok((mesh, warning))
    }

    fn ground(&self, name: &str, above: &[MeshSource], place: &Place) -> Result<Ground, LoadError> {
        let named = above.iter().find(|mesh| mesh.mesh.name == name);
        let Some(mesh) = named else {
            let hint = suggest::hint(name, above.iter().map(|mesh| mesh.mesh.name.as_str()), "meshes above");
            return self.fail(place, format!("there is no mesh `{name}` above this one: {hint}"));
        };
        let lacks = |lack: String| self.source.error(place, format!("looking for heights on `{name}` {lack}"));
        if let Some(group) = self.groups.iter().find(|group| group.name() == name) {
            let copies = group.copies().map(|(mesh, at)| (&mesh.positions[..], &mesh.triangles[..], at));
            return Ground::new(copies).map_err(lacks);
        }
        match mesh.mesh.triangles() {
            Some(t) => {
                Ground::new([(&t.positions[..], &t.triangles[..], Affine3::IDENTITY)].into_iter()).map_err(lacks)
            }
            None => self.fail(place, "a sphere has no triangles to lie on: name another mesh"),
        }
    }
}
