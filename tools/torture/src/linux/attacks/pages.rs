//! Attack: pages of `throng view` change and save a scene while an editor changes the file. In any order, saved files must load, only the
//! changed values may differ, and no page may be blocked.

use crate::linux::{
    campaign::Campaign,
    page::{Page, Server},
    process::{End, Ended},
    promise::Promise,
    random::Random,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};
use tungstenite::Message;

/// Number of pages and of steps in an attempt.
const PAGES: usize = 3;
const STEPS: usize = 24;
/// Number of instances in the scene. Each has its own line and mesh, by which it is identified.
const ENTRIES: usize = 5;

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let saved = campaign.promise("what pages save loads and changes nothing else", "servers");
    let served = campaign.promise("no page is kept waiting, and a server ends well", "servers");
    campaign.each(17, campaign.kills.div_ceil(12), |_, random| {
        let folder = tempfile::tempdir()?;
        let mut session = Session::start(campaign, folder.path())?;
        let done = session.run(random);
        let ended = session.server.end(campaign)?;
        let (lost, stuck) = match done {
            Ok(()) => (None, None),
            Err(Fault::Lost(fault)) => (Some(fault), None),
            Err(Fault::Stuck(fault)) => (None, Some(fault)),
        };
        saved.tried(lost, &ended, Some(folder.path()))?;
        served.tried(stuck.or_else(|| bad_end(campaign, &ended)), &ended, Some(folder.path()))
    })?;
    Ok(vec![saved, served])
}

fn bad_end(campaign: &Campaign, ended: &Ended) -> Option<String> {
    match ended.end {
        End::Code(0) if ended.peak > campaign.bounds.memory => Some(format!("takes {} MiB", ended.peak >> 20)),
        End::Code(0) if ended.stderr.contains("panicked") => Some(ended.stderr.clone()),
        End::Code(0) => None,
        end => Some(format!("{end:?}: {}", ended.stderr.trim())),
    }
}

enum Fault {
    /// The file has an unwanted change.
    Lost(String),
    /// A page or the server does not respond.
    Stuck(String),
}

struct Session<'c> {
    campaign: &'c Campaign,
    folder: PathBuf,
    server: Server,
    pages: Vec<(Page, Changed)>,
    /// Content of the file as last written by the editor or a save.
    text: String,
    /// The last valid scene, for edits that break the file.
    last_good: String,
}

/// Unsaved changes of a page: instances, by the marks of their lines, and settings.
#[derive(Default)]
struct Changed {
    entries: BTreeSet<String>,
    settings: bool,
}

fn scene() -> String {
    let meshes: String = (0..ENTRIES).map(|i| format!("\"m{i}\": Sphere, ")).collect();
    let entries: String = (0..ENTRIES)
        .map(|i| format!("        Single(of: \"m{i}\", translate: ({}, 1, 0), material: \"a\"), // m{i}.\n", 3 * i))
        .collect();
    format!(
        "(\n    render: (size: (32, 18), samples: 1, frames: 2), // render\n    environment: Constant(radiance: (1, 1, 1)),\n    \
         materials: {{ \"a\": Diffuse(color: (0.5, 0.5, 0.5)) }},\n    meshes: {{ {meshes}}},\n    instances: [\n{entries}    \
         ],\n    camera: LookAt(eye: (0, 4, 20), target: (0, 1, 0)), // camera\n)\n"
    )
}

/// The mark at the end of a line: its comment.
fn mark(line: &str) -> &str {
    line.rsplit_once("// ").map_or("", |(_, mark)| mark)
}

impl<'c> Session<'c> {
    fn start(campaign: &'c Campaign, folder: &Path) -> anyhow::Result<Self> {
        let text = scene();
        fs::write(folder.join("scene.ron"), &text)?;
        let server = Server::start(campaign, folder)?;
        let folder = folder.to_owned();
        Ok(Self { campaign, folder, server, pages: Vec::new(), last_good: text.clone(), text })
    }

    fn run(&mut self, random: &mut Random) -> Result<(), Fault> {
        for index in 0..PAGES {
            let page = self.open(index)?;
            self.pages.push((page, Changed::default()));
        }
        // Idle connections, which must not block others.
        let _strangers: Vec<_> = (0..40).filter_map(|_| self.server.stranger().ok()).collect();
        for _ in 0..STEPS {
            let index = random.below(PAGES);
            match random.below(16) {
                0..=3 => self.place(index, random),
                4..=5 => self.change(index),
                6..=8 => self.save_values(index, random)?,
                9 => self.save_camera(index, random)?,
                10..=12 => self.edit(random)?,
                13 => self.reload(index)?,
                14 => self.misbehave(index, random)?,
                _ => self.pages[index].0.ping().map_err(Fault::Stuck)?,
            }
        }
        // All pages must still be served.
        self.write(self.last_good.clone())?;
        for (page, _) in &mut self.pages {
            page.ping().map_err(Fault::Stuck)?;
            page.say(&json!({"do": "values"}));
            page.answer(&["values"]).map_err(Fault::Stuck)?;
        }
        Ok(())
    }

    /// Opens a page, or reconnects it.
    fn open(&self, index: usize) -> Result<Page, Fault> {
        let opened = self.server.open(&format!("page-{index}")).map_err(|error| Fault::Stuck(error.to_string()))?;
        let mut page = opened.ok_or_else(|| Fault::Stuck("a page is not let in".to_owned()))?;
        page.say(&json!({"do": "start", "size": [32, 18]}));
        page.answer(&["scene"]).map_err(Fault::Stuck)?;
        Ok(page)
    }

    /// Moves one of the spheres, which the file may no longer have.
    fn place(&mut self, index: usize, random: &mut Random) {
        let name = format!("m{}", random.below(ENTRIES));
        let (page, changed) = &mut self.pages[index];
        let scale = if random.once_in(12) { 1e-45 } else { 1.0 + random.share() };
        page.say(&json!({"do": "place", "instance": name, "translate": [random.share(), 2, 3], "scale": scale}));
        changed.entries.insert(format!("{name}."));
    }

    fn change(&mut self, index: usize) {
        let (page, changed) = &mut self.pages[index];
        page.say(&json!({"do": "change", "values": {"render.exposure": "1"}}));
        changed.settings = true;
    }

    fn save_values(&mut self, index: usize, random: &mut Random) -> Result<(), Fault> {
        let wrong = [
            json!({"environment.radiance": "\"high\""}),
            json!({"materials.a": "Nothing()"}),
            json!({"instances": "[]"}),
            json!({"meshes.m0": "Obj(file: \"gone.obj\")"}),
            json!({"render.frames": "0"}),
        ];
        let values = if random.once_in(3) { random.pick(&wrong).clone() } else { json!({}) };
        let anyway = random.once_in(4);
        self.save(index, &json!({"do": "save", "what": "values", "values": values, "anyway": anyway}))
    }

    fn save_camera(&mut self, index: usize, random: &mut Random) -> Result<(), Fault> {
        let late = *random.pick(&[1.0, 2.5, 1e5]);
        let stop = *random.pick(&[2.0, 0.0005]);
        let key = |time: f64| json!({"eye": [time, 4, 20], "target": [0, 1, 0], "time": time, "f_stop": stop});
        self.pages[index].0.say(&json!({"do": "waypoints", "keys": [key(0.0), key(late)]}));
        self.save(index, &json!({"do": "save", "what": "camera"}))
    }

    /// Saves, and checks the resulting file.
    fn save(&mut self, index: usize, message: &Value) -> Result<(), Fault> {
        let (page, changed) = &mut self.pages[index];
        page.say(message);
        let answer = page.answer(&["saved", "refused"]).map_err(Fault::Stuck)?;
        let text = fs::read_to_string(self.folder.join("scene.ron")).map_err(|error| Fault::Lost(error.to_string()))?;
        if answer["is"] == "refused" {
            return if text == self.text {
                Ok(())
            } else {
                Err(Fault::Lost(format!("a refused save changes the file: {}", answer["why"])))
            };
        }
        let is_camera = message["what"] == "camera";
        let may_change = |line: &str| match mark(line) {
            "camera" => is_camera,
            "render" => is_camera || changed.settings,
            mark => !is_camera && changed.entries.contains(mark),
        };
        let (before, after) = (without_flight(&self.text), without_flight(&text));
        let is_kept = before.len() == after.len()
            && before.iter().zip(&after).all(|(a, b)| a == b || (mark(a) == mark(b) && may_change(a)));
        if !is_kept {
            return Err(Fault::Lost(format!("a save changes more than it should: {message}")));
        }
        if !is_camera {
            *changed = Changed::default();
        }
        let checked = self.campaign.run(&self.folder, "check scene.ron");
        let checked = checked.map_err(|error| Fault::Stuck(error.to_string()))?;
        if checked.end != End::Code(0) {
            return Err(Fault::Lost(format!("what was saved does not load: {}", checked.stderr.trim())));
        }
        (self.text, self.last_good) = (text.clone(), text);
        Ok(())
    }

    /// Edits the file: removes, restores or swaps lines, adds a comment, or breaks the syntax.
    fn edit(&mut self, random: &mut Random) -> Result<(), Fault> {
        let mut lines: Vec<String> = self.last_good.lines().map(str::to_owned).collect();
        let own: Vec<usize> = (0..lines.len()).filter(|&i| mark(&lines[i]).ends_with('.')).collect();
        match random.below(5) {
            0 if own.len() > 1 => drop(lines.remove(*random.pick(&own))),
            1 if own.len() > 1 => lines.swap(own[0], own[own.len() - 1]),
            2 => lines.insert(0, "// a comment".to_owned()),
            3 => {
                let broken = self.last_good.replacen("materials", "mat", 1);
                return self.write_text(broken);
            }
            _ => {}
        }
        let text = lines.join("\n") + "\n";
        self.write(text)
    }

    fn write(&mut self, text: String) -> Result<(), Fault> {
        self.last_good = text.clone();
        self.write_text(text)
    }

    /// Writes the file in place or replaces it.
    fn write_text(&mut self, text: String) -> Result<(), Fault> {
        let (path, part) = (self.folder.join("scene.ron"), self.folder.join("scene.ron~"));
        let written = match text.len() % 2 {
            0 => fs::write(&path, &text),
            _ => fs::write(&part, &text).and_then(|()| fs::rename(&part, &path)),
        };
        self.text = text;
        written.map_err(|error| Fault::Stuck(error.to_string()))
    }

    fn reload(&mut self, index: usize) -> Result<(), Fault> {
        let (page, changed) = &mut self.pages[index];
        page.say(&json!({"do": "reload"}));
        *changed = Changed::default();
        page.ping().map_err(Fault::Stuck)
    }

    /// Sends invalid or excessive messages. A page that is closed for this is opened again.
    fn misbehave(&mut self, index: usize, random: &mut Random) -> Result<(), Fault> {
        let page = &mut self.pages[index].0;
        match random.below(4) {
            0 => page.send(Message::Text("{\"do\":".into())),
            1 => {
                for ask in 0..40 {
                    let size = [320, 180];
                    page.say(&json!({"do": "still", "format": "exr", "ask": ask, "size": size, "samples": 1_048_576}));
                }
                return page.ping().map_err(Fault::Stuck);
            }
            2 => page.send(Message::Text("x".repeat(2 << 20).into())),
            _ => (0..200).for_each(|_| page.say(&json!({"do": "values"}))),
        }
        self.pages[index].0 = self.open(index)?;
        Ok(())
    }
}

/// The lines of a file, with the camera reduced to one line.
fn without_flight(text: &str) -> Vec<String> {
    let (Some(start), Some(end)) = (text.find("    camera:"), text.find("// camera")) else {
        return text.lines().map(str::to_owned).collect();
    };
    let short = format!("{}camera {}", &text[..start], &text[end..]);
    short.lines().map(str::to_owned).collect()
}
