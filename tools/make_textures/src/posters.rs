//! A sheet of six posters, two rows of three: type, woodcuts, old paper.

use crate::figures::{self, Figure};
use crate::letters::{Stroke, natural_width, strokes};
use crate::noise::{fractal, smoothstep, vein};
use glam::{Vec2, Vec3};

/// Pixels of the whole texture.
pub const SIZE: [u32; 2] = [1296, 1216];
const COLUMNS: u32 = 3;
const ROWS: u32 = 2;
/// Pixels of the ink for each pixel of the texture, along each axis.
const FINE: u32 = 2;

/// What is printed, from the top.
enum Block {
    /// A line of type over the whole width, with its height relative to the width of the poster.
    Line(&'static str, f32),
    /// The same in red.
    Red(&'static str, f32),
    /// Lines of small type that are not stretched, with their height.
    Small(&'static [&'static str], f32),
    /// A woodcut, with its height.
    Cut(Figure, f32),
    /// A rule.
    Rule,
}
use Block::{Cut, Line, Red, Rule, Small};

struct Poster {
    paper: Vec3,
    blocks: &'static [Block],
}

const POSTERS: [Poster; 6] = [
    Poster {
        paper: Vec3::new(0.82, 0.75, 0.6),
        blocks: &[
            Line("THE GREAT", 0.09),
            Red("MARKET", 0.2),
            Line("EVERY SATURDAY FROM SUNRISE", 0.05),
            Rule,
            Cut(figures::apple, 0.44),
            Rule,
            Line("TEN THOUSAND APPLES", 0.07),
            Small(
                &[
                    "ALL OF THEM COPIES OF A SINGLE ONE, WHICH IS KEPT IN",
                    "THE TOWN HALL AND MAY BE SEEN ON WEEKDAYS FROM TEN TO",
                    "FOUR. PEARS, POTS, BASKETS, ROPE AND LIVE PIGEONS.",
                ],
                0.0225,
            ),
        ],
    },
    Poster {
        paper: Vec3::new(0.8, 0.68, 0.46),
        blocks: &[
            Red("DRAGONS", 0.16),
            Line("MADE OF DRAGONS", 0.075),
            Cut(figures::swarm, 0.6),
            Line("17,936 IN ONE NIGHT", 0.07),
            Rule,
            Small(
                &[
                    "THE PUBLIC IS ASKED NOT TO COUNT THEM ALOUD, AS THIS",
                    "MAKES THEM NERVOUS. CHILDREN BELOW SIX PAY HALF.",
                ],
                0.0225,
            ),
            Line("ON THE GREEN, AT DUSK", 0.05),
        ],
    },
    Poster {
        paper: Vec3::new(0.85, 0.82, 0.73),
        blocks: &[
            Line("LOST", 0.21),
            Line("ONE PHOTON", 0.1),
            Cut(figures::sun, 0.44),
            Small(
                &[
                    "LAST SEEN BELOW THE ARCH AFTER ITS EIGHTH BOUNCE, WARM,",
                    "SLIGHTLY RED, ABOUT 600 NANOMETRES LONG. ANSWERS TO NO",
                    "NAME. WHOEVER FINDS IT IS ASKED TO LET IT GO ON IN THE",
                    "SAME DIRECTION AND TO TELL THE OWNER, MISS L. AMBERT.",
                ],
                0.0225,
            ),
            Red("REWARD", 0.12),
            Line("FIVE SAMPLES", 0.05),
        ],
    },
    Poster {
        paper: Vec3::new(0.76, 0.72, 0.6),
        blocks: &[
            Line("AUCTION", 0.15),
            Red("12,000 BULLS", 0.1),
            Line("AT A FULL GALLOP", 0.06),
            Cut(figures::bull, 0.46),
            Rule,
            Line("BUYERS RUN ALONG", 0.065),
            Small(
                &[
                    "THEY COME IN THIRTY-TWO POSES AND ARE SOLD BY THE",
                    "PHASE. HORNS, TUFT AND SHADOW INCLUDED. NO RETURNS.",
                ],
                0.0225,
            ),
            Line("BELOW THE OLD WALL", 0.045),
        ],
    },
    Poster {
        paper: Vec3::new(0.74, 0.6, 0.5),
        blocks: &[
            Line("THE HALL OF", 0.075),
            Line("MIRRORS", 0.17),
            Cut(figures::mirrors, 0.52),
            Red("FORTY BOUNCES DEEP", 0.075),
            Rule,
            Small(
                &[
                    "COME AND SEE YOURSELF AS OTHERS SEE YOU, AND THEM AS",
                    "YOU DO, AND SO ON. THE WAY OUT IS WHERE YOU CAME IN.",
                ],
                0.0225,
            ),
            Line("ADMISSION ONE RAY", 0.055),
        ],
    },
    Poster {
        paper: Vec3::new(0.86, 0.83, 0.76),
        blocks: &[
            Cut(figures::arms, 0.26),
            Line("RULES OF THE MARKET", 0.065),
            Rule,
            Small(
                &[
                    "1. STALLS STAND BETWEEN THE GUTTER AND THE DOORS, AND",
                    "    LEAVE THE MIDDLE TO CARTS, CATS AND CAMERAS.",
                    "2. NOTHING IS SOLD BEFORE THE FIRST LIGHT HAS REACHED",
                    "    THE GROUND, BY WHATEVER PATH.",
                    "3. WEIGHTS ARE CHECKED AT NOON. THEY ADD UP TO ONE.",
                    "4. WHO BRINGS MORE THAN A MILLION OF A THING BRINGS",
                    "    THE THING ONCE, AND A LIST OF PLACES.",
                    "5. DOGS ARE TIED. DRAGONS SIT ON THE ROOFS.",
                    "6. AWNINGS ARE STRIPED. THE STRIPES ARE FILTERED.",
                    "7. NO NOISE AFTER TEN. FIVE SAMPLES MUST DO.",
                    "8. LEAVES ARE SWEPT UP ON MONDAYS, ONE BY ONE.",
                    "9. POSTERS ARE READ FROM NEAR BY, NOT PULLED OFF.",
                ],
                0.0235,
            ),
            Red("BY ORDER OF THE COUNCIL", 0.045),
        ],
    },
];

/// Ink on the sheet.
pub struct Wall {
    /// Black and red ink of each fine pixel, 0 to 1.
    ink: Vec<[f32; 2]>,
    width: usize,
    height: usize,
}

impl Wall {
    pub fn new() -> Self {
        let [width, height] = SIZE.map(|size| (size * FINE) as usize);
        let mut wall = Self { ink: vec![[0.0; 2]; width * height], width, height };
        for (i, poster) in POSTERS.iter().enumerate() {
            let i = i as u32;
            let size = Vec2::new((width as u32 / COLUMNS) as f32, (height as u32 / ROWS) as f32);
            wall.print(poster, Vec2::new((i % COLUMNS) as f32, (i / COLUMNS) as f32) * size, size);
        }
        wall
    }

    fn print(&mut self, poster: &Poster, corner: Vec2, size: Vec2) {
        let unit = size.x;
        let margin = 0.085 * unit;
        for inset in [0.03, 0.045] {
            let (low, high) = (corner + inset * unit, corner + size - inset * unit);
            let corners = [low, Vec2::new(high.x, low.y), high, Vec2::new(low.x, high.y)];
            for i in 0..4 {
                let width = if inset < 0.04 { 0.008 } else { 0.003 } * unit;
                self.stroke(&Stroke { from: corners[i], to: corners[(i + 1) % 4], width }, 0);
            }
        }
        let heights: f32 = poster.blocks.iter().map(Block::height).sum::<f32>() * unit;
        let gap = (size.y - 2.0 * margin - heights) / (poster.blocks.len() - 1) as f32;
        let mut top = corner.y + margin;
        for block in poster.blocks {
            self.block(block, Vec2::new(corner.x + margin, top), unit - 2.0 * margin, unit);
            top += block.height() * unit + gap;
        }
    }

    fn block(&mut self, block: &Block, at: Vec2, width: f32, unit: f32) {
        match *block {
            Line(text, height) | Red(text, height) => {
                let height = height * unit;
                let stretch = width / (natural_width(text) * height);
                let weight = 0.17 * stretch.clamp(0.75, 1.3);
                let ink = usize::from(matches!(block, Red(..)));
                self.strokes(&strokes(text, at + Vec2::new(0.0, height), height, width, weight), ink);
            }
            Small(lines, height) => {
                let height = height * unit;
                for (i, line) in lines.iter().enumerate() {
                    let origin = at + Vec2::new(0.0, height * (1.0 + SPACED * i as f32));
                    let natural = natural_width(line) * height * 0.78;
                    let full = i + 1 < lines.len() && natural > 0.86 * width;
                    self.strokes(&strokes(line, origin, height, if full { width } else { natural.min(width) }, 0.2), 0);
                }
            }
            Cut(figure, height) => {
                let half = height * unit / 2.0;
                self.strokes(&figure(at + Vec2::new(width / 2.0, half), half), 0);
            }
            Rule => {
                let middle = at + Vec2::new(width / 2.0, 0.0);
                self.stroke(&Stroke { from: at, to: at + Vec2::new(width, 0.0), width: 0.004 * unit }, 0);
                self.stroke(&Stroke { from: middle, to: middle + 0.01, width: 0.028 * unit }, 1);
            }
        }
    }

    fn strokes(&mut self, strokes: &[Stroke], ink: usize) {
        for stroke in strokes {
            self.stroke(stroke, ink);
        }
    }

    fn stroke(&mut self, stroke: &Stroke, ink: usize) {
        let reach = stroke.width / 2.0 + 1.0;
        let low = (stroke.from.min(stroke.to) - reach).floor().max(Vec2::ZERO);
        let high = (stroke.from.max(stroke.to) + reach).ceil();
        let along = stroke.to - stroke.from;
        for y in low.y as usize..(high.y as usize).min(self.height) {
            for x in low.x as usize..(high.x as usize).min(self.width) {
                let at = Vec2::new(x as f32, y as f32) + 0.5 - stroke.from;
                let nearest = along * (at.dot(along) / along.length_squared().max(1e-6)).clamp(0.0, 1.0);
                let cover = (stroke.width / 2.0 - at.distance(nearest) + 0.5).clamp(0.0, 1.0);
                let pixel = &mut self.ink[y * self.width + x][ink];
                *pixel = pixel.max(cover);
            }
        }
    }

    /// The colours of the sheet.
    pub fn painter(self) -> impl Fn(Vec2) -> Vec3 {
        move |at| {
            let (x, y) = ((at.x * self.width as f32) as usize, (at.y * self.height as f32) as usize);
            let [black, red] = self.ink[y.min(self.height - 1) * self.width + x.min(self.width - 1)];
            let poster = (at.x * COLUMNS as f32) as usize + COLUMNS as usize * (at.y * ROWS as f32) as usize;
            printed(at, POSTERS[poster].paper, black, red)
        }
    }
}

/// Space from line to line of small type, relative to the height.
const SPACED: f32 = 1.62;

impl Block {
    /// Height relative to the width of the poster.
    fn height(&self) -> f32 {
        match *self {
            Line(_, height) | Red(_, height) | Cut(_, height) => height,
            Small(lines, height) => height * (1.0 + SPACED * (lines.len() - 1) as f32),
            Rule => 0.004,
        }
    }
}

/// Ink on paper that has hung in rain and sun: worn ink, creases, brown edges.
fn printed(at: Vec2, paper: Vec3, black: f32, red: f32) -> Vec3 {
    const BLACK: Vec3 = Vec3::new(0.16, 0.14, 0.13);
    const RED: Vec3 = Vec3::new(0.6, 0.15, 0.11);
    let cell = Vec2::new(at.x * COLUMNS as f32, at.y * ROWS as f32).fract();
    let border = (0.5 - (cell - 0.5).abs()).min_element();
    let fibres = fractal(at, 240, 2, 210) - 0.5;
    let stains = smoothstep(0.5, 0.75, fractal(at, 6, 5, 211));
    let brown = smoothstep(0.1, 0.0, border + 0.08 * (fractal(at, 12, 4, 212) - 0.5));
    let crease = vein(at, 7, 213, 0.006);
    let sheet = paper * (1.0 + 0.08 * fibres) * Vec3::ONE.lerp(Vec3::new(0.86, 0.78, 0.64), 0.6 * stains + 0.6 * brown);
    let sheet = sheet * (1.0 - 0.14 * crease);
    let worn = 1.0 - 0.45 * smoothstep(0.52, 0.75, fractal(at, 90, 3, 214)) - 0.5 * crease;
    sheet.lerp(RED, 0.9 * red * worn).lerp(BLACK, 0.93 * black * worn)
}
