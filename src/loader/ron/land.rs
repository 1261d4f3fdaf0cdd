//! Entries of `meshes` that are terrains and ribbons.

use super::{curves::Curves, drop, file::Source, placements::ModelGroup, shapes::Fields, source::Place};
use crate::{
    loader::{
        LoadError,
        budget::{self, Budget},
        files, image,
        land::{
            ground::Ground,
            ribbon::{MOST_STEPS, Ribbon},
            terrain::{self, Terrain, bilinear},
        },
        meshes::MeshSource,
        suggest,
    },
    scene::{
        TriangleMesh,
        curve::Curve,
        desc::{Bed, BedLine, NoiseDesc, RibbonDesc, TerrainDesc},
    },
};
use glam::{Affine3, Vec3, Vec3Swizzles};

/// Greatest number of cells along a side.
const MOST_CELLS: u32 = 8192;
/// Cells along X, unless the file says otherwise.
const DEFAULT_CELLS: u32 = 256;
/// Most waves from one end of a terrain to the other: cells of the noise are numbered by integers of 32 bits.
const MOST_WAVES: f32 = 1e9;

/// Makes terrains and ribbons.
pub struct Land<'a> {
    pub source: &'a Source,
    pub curves: &'a Curves,
    pub budget: &'a Budget,
    /// The models above that are groups.
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
    /// Unknown curves, numbers out of range, pictures that are missing or damaged.
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
            let (width, blend) = (fields.not_below_0(valley.width, "width")?, fields.above_0(valley.blend, "blend")?);
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
        let octaves = fields.within(noise.octaves, 1, 16, "octaves")?;
        let scale = fields.above_0(noise.scale, "scale")?;
        let waves = desc.size.0.xz().abs().max_element() / scale * 2f32.powi(octaves as i32 - 1);
        if waves > MOST_WAVES {
            let message =
                "scale is the length of the largest waves, and these are too short for a terrain of this size";
            return self.fail(&place.key("scale"), message);
        }
        Ok(Terrain::of_noise([noise.seed, octaves], scale, desc.size.0, cells))
    }

    fn of_picture(&self, file: &str, desc: &TerrainDesc, place: &Place) -> Result<Terrain, LoadError> {
        let path = self.source.resolve(file);
        if !files::exists(&path) {
            let message = format!("the picture of heights {} does not exist: check the path", path.display());
            return self.fail(&place.key("file"), message);
        }
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

    /// Cells along X and Z. `own` is what a picture has, or the default along X; cells other than a picture's are made square.
    fn cells(&self, desc: &TerrainDesc, own: [u32; 2], place: &Place) -> Result<[usize; 2], LoadError> {
        let fields = Fields { source: self.source, place };
        let is_picture = desc.file.is_some() && desc.cells.is_none();
        let columns = match desc.cells {
            Some(cells) => fields.within(cells, 2, MOST_CELLS, "cells")?,
            None => own[0].min(MOST_CELLS),
        };
        let square = columns as f32 * desc.size.0.z / desc.size.0.x;
        let rows = if is_picture { own[1] } else { square.round().max(2.0) as u32 }.min(MOST_CELLS);
        let cells = [columns as usize, rows as usize];
        let bytes = budget::of_mesh((cells[0] + 1) * (cells[1] + 1), 2 * cells[0] * cells[1]);
        let lacks =
            |lack| self.source.error(&place.key("cells"), format!("the meshes so far and this terrain: all {lack}"));
        self.budget.take(bytes).map_err(lacks)?;
        Ok(cells)
    }

    fn level(&self, terrain: &mut Terrain, bed: &Bed, place: &Place) -> Result<(), LoadError> {
        let fields = Fields { source: self.source, place };
        let on_curve = bed.follow == BedLine::Curve;
        let width = fields.above_0(bed.width, "width")?;
        let own = if on_curve { 0.0 } else { 4.0 * width };
        let shape = terrain::Bed {
            width,
            blend: fields.not_below_0(bed.blend, "blend")?,
            depth: bed.depth.0,
            on_curve,
            smooth: bed.smooth.map_or(Ok(own), |smooth| fields.not_below_0(smooth, "smooth"))?,
        };
        terrain.level(self.curve(&bed.curve, place)?, &shape);
        Ok(())
    }

    /// The mesh of a ribbon, and a warning if it lies on itself; `above` are the meshes above it in the file.
    ///
    /// # Errors
    /// Unknown curves and meshes, numbers out of range, curves that leave the mesh they should lie on.
    pub fn ribbon(
        &self,
        desc: &RibbonDesc,
        above: &[MeshSource],
        place: &Place,
    ) -> Result<(TriangleMesh, Option<String>), LoadError> {
        let fields = Fields { source: self.source, place };
        let curve = self.curve(&desc.curve, place)?;
        let width = fields.above_0(desc.width, "width")?;
        let step = desc.step.map_or(Ok(width * 0.25), |step| fields.above_0(step, "step"))?;
        let range = fields.range(desc.from, desc.to, curve.length())?;
        if (range[1] - range[0]) / step > MOST_STEPS {
            let message = format!("the ribbon is {} long, too long for so small a step", range[1] - range[0]);
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
        if let Some(group) = self.groups.iter().find(|group| group.name() == name) {
            let triangles: u64 = group.copies().map(|(mesh, _)| mesh.triangles.len() as u64).sum();
            files::fits(triangles.saturating_mul(drop::BYTES_PER_TRIANGLE)).map_err(|lack| {
                self.source.error(place, format!("looking for heights on {triangles} triangles {lack}"))
            })?;
            let copies = group.copies().map(|(mesh, at)| (&mesh.positions[..], &mesh.triangles[..], at));
            return Ok(Ground::new(copies));
        }
        match mesh.mesh.triangles() {
            Some(t) => Ok(Ground::new([(&t.positions[..], &t.triangles[..], Affine3::IDENTITY)].into_iter())),
            None => self.fail(place, "a sphere has no triangles to lie on: name another mesh"),
        }
    }
}
