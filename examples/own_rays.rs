//! Traces custom rays against a glTF model: prints a height map as text, and the surface at its centre.
//!
//!     cargo run --release --example own_rays

use throng::{Error, Hit, Ray, Renderer};

const COLUMNS: usize = 72;
const ROWS: usize = 30;

fn main() -> Result<(), Error> {
    let mut renderer = Renderer::open("assets/bull.glb")?;
    let points = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row)));
    // The bull is 3.3 m long, along z.
    let rays: Vec<Ray> = points
        .map(|(column, row)| {
            let z = 3.6 * (column as f32 / COLUMNS as f32 - 0.5);
            let x = 3.0 * (row as f32 / ROWS as f32 - 0.5);
            Ray::new([x, 5.0, z], [0.0, -1.0, 0.0])
        })
        .collect();

    let hits = renderer.trace(1, &rays)?;
    for line in hits.chunks(COLUMNS) {
        println!("{}", line.iter().map(letter).collect::<String>());
    }
    let scene = renderer.scene()?;
    if let Some(hit) = hits[hits.len() / 2 + COLUMNS / 2] {
        let instance = scene.instance_name(hit.instance as usize);
        let mesh = &scene.meshes[hit.mesh as usize].name;
        let [x, y, z] = hit.normal;
        println!("{instance}, triangle {} of {mesh}, with the normal ({x:.2}, {y:.2}, {z:.2})", hit.primitive);
    }
    Ok(())
}

/// Character for the height of a hit, from 0 to 2 m.
fn letter(hit: &Option<Hit>) -> char {
    let height = hit.map_or(0.0, |hit| 5.0 - hit.distance);
    [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'][(height * 5.0).clamp(0.0, 9.0) as usize]
}

#[test]
fn it_runs() -> Result<(), Error> {
    main()
}
