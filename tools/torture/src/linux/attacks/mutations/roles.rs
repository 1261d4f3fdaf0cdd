//! Roles: the ways in which the program reads a file.

use anyhow::Context;

#[derive(Clone, Copy, Debug)]
pub enum Format {
    Text,
    Bytes,
    Glb,
    Png,
    WebP,
    Usdz,
    Film,
    Tree,
}

pub struct Role {
    pub name: &'static str,
    /// Relative frequency of the role.
    pub share: usize,
    pub format: Format,
    /// Extension of its sample files.
    pub ending: &'static str,
    /// Path at which it is read.
    pub file: String,
    /// Commands that read it.
    pub lines: Vec<String>,
}

/// Name, share, format, ending, file, commands.
const ROLES: &str = "
scene | 8 | text | ron | m.ron | check m.ron; render m.ron TINY; info m.ron --json ONE; trace m.ron few.ray ONE
OBJ | 3 | text | obj | m.obj | check m.obj GREY; render m.obj TINY GREY
PLY | 2 | text | ply | m.ply | check m.ply GREY; render m.ply TINY GREY
PLY bytes | 2 | bytes | ply | m.ply | check m.ply GREY; render m.ply TINY GREY
STL | 1 | text | stl | m.stl | check m.stl GREY; render m.stl TINY GREY
STL bytes | 1 | bytes | stl | m.stl | check m.stl GREY; render m.stl TINY GREY
MTL | 2 | text | mtl | m.mtl | check mtl.obj GREY; render mtl.obj TINY GREY
glTF | 6 | text | gltf | m.gltf | check m.gltf GREY; render m.gltf TINY GREY --animation all; info m.gltf --json --full ONE GREY
GLB | 6 | glb | glb | m.glb | check m.glb GREY; render m.glb TINY GREY --animation all; info m.glb --json --full ONE GREY
GLB bytes | 1 | bytes | glb | m.glb | check m.glb GREY
glTF in a scene | 2 | text | gltf | actor.gltf | check actor.ron; render actor.ron TINY
USDA | 4 | text | usda | m.usda | check m.usda; render m.usda TINY; info m.usda --json ONE
USDC | 4 | bytes | usdc | m.usdc | check m.usdc; render m.usdc TINY; info m.usdc --json ONE
USDZ | 2 | usdz | usdz | m.usdz | check m.usdz; render m.usdz TINY
USDZ bytes | 1 | bytes | usdz | m.usdz | check m.usdz; render m.usdz TINY
USD in a scene | 1 | text | usda | stage.usda | check stage.ron; render stage.ron TINY
pbrt | 3 | text | pbrt | m.pbrt | check m.pbrt; render m.pbrt TINY; info m.pbrt --json ONE
MaterialX | 2 | text | mtlx | m.mtlx | check mtlx.ron; render mtlx.ron TINY; check mtlx.usda
NPY table | 2 | bytes | npy | m.npy | check npy.ron; render npy.ron TINY
CSV table | 1 | text | csv | m.csv | check csv.ron; render csv.ron TINY
JSON Lines table | 1 | text | jsonl | m.jsonl | check jsonl.ron; render jsonl.ron TINY
SCN | 2 | bytes | scn | m.scn | check m.scn; render m.scn TINY
rays | 2 | bytes | ray | m.ray | trace scene.ron m.ray ONE; trace scene.ron m.ray --kind any ONE
PNG texture | 2 | png | png | m.png | check png.ron; render png.ron TINY; diff m.png other.png -q --limit 1 --map map.png
PNG bytes | 1 | bytes | png | m.png | check png.ron; diff other.png m.png -q --limit 1
JPEG texture | 2 | bytes | jpg | m.jpg | check jpg.ron; render jpg.ron TINY; diff m.jpg other.png -q --limit 1
WebP texture | 3 | webp | webp | m.webp | check webp.ron; render webp.ron TINY; diff m.webp other.png -q --limit 1
WebP bytes | 1 | bytes | webp | m.webp | check webp.ron; diff m.webp other.png -q --limit 1
GIF texture | 1 | bytes | gif | m.gif | check gif.ron; render gif.ron TINY
TGA texture | 1 | bytes | tga | m.tga | check tga.ron; render tga.ron TINY
BMP texture | 1 | bytes | bmp | m.bmp | check bmp.ron; render bmp.ron TINY
TIFF texture | 2 | bytes | tiff | m.tiff | check tiff.ron; render tiff.ron TINY
OpenEXR texture | 2 | bytes | exr | m.exr | check exr.ron; render exr.ron TINY; diff m.exr m.exr -q --limit 1
DDS texture | 1 | bytes | dds | m.dds | check dds.ron; render dds.ron TINY
KTX 2 texture | 2 | bytes | ktx2 | m.ktx2 | check ktx2.ron; render ktx2.ron TINY
HDR environment | 2 | bytes | hdr | m.hdr | check hdr.ron; render hdr.ron TINY; diff m.hdr m.hdr -q --limit 1
EXR | 3 | bytes | exr | m.exr | diff m.exr other.exr -q --limit 1; diff other.exr m.exr -q --limit 1
PNG frame | 1 | png | png | kept/0001.png | render scene.ron TINY --skip-existing -o kept/ --video kept.webp
JPEG frame | 1 | bytes | jpg | kept/0001.jpg | render scene.ron TINY --skip-existing -o kept/####.jpg --video kept.gif
WebP frame | 1 | webp | webp | kept/0001.webp | render scene.ron TINY --skip-existing -o kept/####.webp --sheet kept.png
EXR frame | 1 | bytes | exr | kept/0001.exr | render scene.ron TINY --skip-existing -o kept/####.exr
film | 3 | film | film | film.png.film | render scene.ron FILM --samples 24 -o film.png
cached tree | 4 | tree | blas | TREE | render scene.ron TINY --cache trees
";

/// Commands that write sample files.
const MAKERS: &str = "
render scene.ron TINY -o made/small.png --cache trees; render scene.ron TINY -o made/small.jpg; render scene.ron TINY -o made/small.webp
render scene.ron TINY -o made/small.exr; render scene.ron -q ONE -f 1-3 --size 32x18 --video made/video.webp
render scene.ron -q ONE -f 1 --size 32x18 --color-depth 16 -o made/deep.png
render scene.ron -q ONE -f 1 --size 32x18 --layers all -o made/layers.exr
render scene.ron -q ONE -f 1 --size 32x18 --color-depth 32 --exr-compression none -o made/plain.exr
render scene.ron -q ONE -f 1 --size 32x18 --exr-compression rle -o other.exr
render scene.ron FILM --samples 16 -o made/film.png; bench scene.ron ONE --repeat 1 --dump made
";

/// Abbreviations in these commands.
const WORDS: [(&str, &str); 4] = [
    ("TINY", "-q ONE -f 1 --size 16x9 --samples 1 --bounces 2"),
    ("FILM", "-q ONE -f 1 --size 16x9 --noise 0.01 --checkpoint"),
    ("GREY", "--environment 0.5,0.5,0.5"),
    ("ONE", "--threads 1"),
];

/// Parses the roles. `tree` is the path of the cached tree.
pub fn roles(tree: &str) -> anyhow::Result<Vec<Role>> {
    let role = |line: &'static str| {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [name, share, format, ending, file, lines] = fields[..] else {
            return None;
        };
        Some(Role {
            name,
            share: share.parse().ok()?,
            format: match format {
                "text" => Format::Text,
                "bytes" => Format::Bytes,
                "glb" => Format::Glb,
                "png" => Format::Png,
                "webp" => Format::WebP,
                "usdz" => Format::Usdz,
                "film" => Format::Film,
                "tree" => Format::Tree,
                _ => return None,
            },
            ending,
            file: file.replace("TREE", tree),
            lines: commands(lines),
        })
    };
    let lines = ROLES.trim().lines();
    lines.map(|line| role(line).with_context(|| format!("not a role: {line}"))).collect()
}

pub fn makers() -> Vec<String> {
    commands(&MAKERS.trim().replace('\n', "; "))
}

fn commands(lines: &str) -> Vec<String> {
    let mut lines = lines.to_owned();
    for (word, by) in WORDS {
        lines = lines.replace(word, by);
    }
    lines.split("; ").map(str::to_owned).collect()
}
