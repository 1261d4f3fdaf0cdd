//! Rows of the material table for materials that clips animate. Constant materials must not share them.

use crate::materials::Materials;
use throng_scene::{
    Material, NONE,
    animated::{AnimatedMaterial, MapUse, MaterialBase, Target, Track},
    rig::{Clip, Playback},
};

/// The animated materials, and their rows so far.
#[derive(Default)]
pub struct AnimatedRows {
    /// Base values, in the order of the file's materials.
    bases: Vec<MaterialBase>,
    rows: Vec<AnimatedMaterial>,
}

/// The tracks of the clips that are played.
pub fn played_tracks<'a>(clips: &'a [Clip], playbacks: &'a [Playback]) -> impl Iterator<Item = &'a Track> {
    let played = playbacks.iter();
    let played = played.filter_map(|playback| clips.get(playback.clip as usize));
    played.flat_map(|clip| &clip.tracks)
}

impl AnimatedRows {
    /// Selects the materials that `tracks` animate. `bases` must be in the order of the file's materials.
    pub fn new<'a>(bases: &[MaterialBase], tracks: impl Iterator<Item = &'a Track>) -> Self {
        let mut animated = vec![false; bases.len()];
        for track in tracks {
            let (Target::Material { material, .. } | Target::Place { material, .. }) = track.target else {
                continue;
            };
            if let Ok(index) = bases.binary_search_by_key(&material, |b| b.material) {
                animated[index] = true;
            }
        }
        let own = bases.iter().zip(animated).filter(|(_, animated)| *animated);
        Self { bases: own.map(|(base, _)| base.clone()).collect(), rows: Vec::new() }
    }

    /// Row of the file's material `index`, called `name`, that equals `material`. An animated material gets its own row.
    pub fn enter(&mut self, table: &mut Materials, (index, name): (u32, &str), material: Material) -> u32 {
        let Ok(base) = self.bases.binary_search_by_key(&index, |b| b.material) else {
            return table.add(name, material);
        };
        let known = self.rows.iter().find(|r| r.base.material == index && table.rows[r.row as usize] == material);
        known.map(|r| r.row).unwrap_or_else(|| {
            let row = table.add_apart(name, material);
            let base = self.bases[base].clone();
            self.rows.push(AnimatedMaterial { row, base });
            row
        })
    }

    /// The rows, in the order of the file's materials. Maps with animated transforms are no longer shared afterwards. Must be called once,
    /// after all materials were added to the table.
    pub fn finish(mut self, table: &mut Materials) -> Vec<AnimatedMaterial> {
        self.rows.sort_by_key(|r| r.base.material);
        for AnimatedMaterial { row, base } in &self.rows {
            for &(map, _) in &base.places {
                own_map(table, *row, map);
            }
        }
        self.rows
    }
}

fn own_map(table: &mut Materials, row: u32, map: MapUse) {
    let mut material = table.rows[row as usize];
    let place = map.of(&mut material);
    if *place == NONE {
        return;
    }
    *place = table.map_apart(table.maps[*place as usize]);
    table.rows[row as usize] = material;
}
