//! Selects the clips of a model that are played, and computes the number of frames.

use super::live::varies;
use crate::options::{AnimationOptions, choose};
use std::collections::{HashMap, HashSet};
use throng_base::files::as_file_name;
use throng_scene::rig::{Channel, Clip, Playback, Property};

/// The name that selects all clips of a file.
const ALL: &str = "all";
/// Maximum number of frames; longer clips are cut.
pub const MOST_FRAMES: f64 = 100_000.0;

/// The clips that `options` name, each once, in that order.
///
/// # Errors
/// If no clip has a given name, or if a named clip cannot be played. The text is a sentence.
pub fn playbacks(options: &AnimationOptions, clips: &[Clip]) -> Result<Vec<Playback>, String> {
    let (mut chosen, mut known) = (Vec::new(), HashSet::new());
    for text in &options.clips {
        let named = named(text, clips)?.into_iter();
        chosen.extend(named.filter(|clip| known.insert(*clip)));
    }
    Ok(chosen.iter().map(|&c| playback(options, clips, c)).collect())
}

/// The clips that `text` names. `all` selects all playable clips. A name may contain commas, and a clip may itself be called `all`.
fn named(text: &str, clips: &[Clip]) -> Result<Vec<usize>, String> {
    let names = clips.iter().map(|clip| clip.name.as_str());
    let find = |name: &str| {
        let clip = choose(name.trim(), names.clone(), ("animation", "animations"))?;
        clips[clip].playable().map(|()| clip)
    };
    if names.clone().any(|name| name == text) {
        return find(text).map(|clip| vec![clip]);
    }
    match text {
        ALL if !clips.is_empty() => match (0..clips.len()).filter(|&clip| clips[clip].fault.is_none()).collect() {
            none if Vec::is_empty(&none) => clips[0].playable().map(|()| none),
            playable => Ok(playable),
        },
        _ => text.split(',').map(find).collect(),
    }
}

fn playback(options: &AnimationOptions, clips: &[Clip], clip: usize) -> Playback {
    let ends_first = options.speed < 0.0 && options.once;
    let start = if ends_first { f64::from(clips[clip].duration) } else { 0.0 };
    Playback { clip: clip as u32, speed: options.speed, offset: options.offset.unwrap_or(start), looped: !options.once }
}

/// A clip that is played separately.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct SingleClip {
    /// A text for [`AnimationOptions::clips`] that selects only this clip.
    pub choice: String,
    /// Its unique name for files.
    pub name: String,
    /// Its name for people: the clip's own name, followed by its index if other clips have the same name.
    pub label: String,
    /// Expected number of frames of its sequence. `--set render.frames` may change the number.
    pub frames: u32,
}

/// The clips that `options` name, to be played separately. `frames` returns the number of frames of one clip's sequence.
///
/// # Errors
/// As [`playbacks`].
pub fn singles(
    options: &AnimationOptions,
    clips: &[Clip],
    frames: impl Fn(Playback) -> u32,
) -> Result<Vec<SingleClip>, String> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let single = |playback: Playback| {
        let own = &clips[playback.clip as usize].name;
        let choice = choice_of(playback.clip as usize, clips);
        let label = if choice == *own { own.clone() } else { format!("{own} ({})", playback.clip) };
        let file = as_file_name(own);
        let count = taken.entry(file.to_lowercase()).or_default();
        *count += 1;
        let name = if *count == 1 { file } else { format!("{file}_{count}") };
        SingleClip { choice, name, label, frames: frames(playback) }
    };
    Ok(playbacks(options, clips)?.into_iter().map(single).collect())
}

/// For each clip that can be played, a text for [`AnimationOptions::clips`] that selects only this clip.
pub fn animation_choices(clips: &[Clip]) -> Vec<String> {
    let playable = (0..clips.len()).filter(|&clip| clips[clip].fault.is_none());
    playable.map(|clip| choice_of(clip, clips)).collect()
}

/// The clip's name, or its index if it has no name or shares it with another clip.
fn choice_of(clip: usize, clips: &[Clip]) -> String {
    let own = &clips[clip].name;
    let is_unique = clips.iter().filter(|other| other.name == *own).count() == 1;
    if is_unique && !own.is_empty() { own.clone() } else { clip.to_string() }
}

/// A warning about clips that animate the same property, of which only the last one has an effect.
pub fn overridden(playbacks: &[Playback], clips: &[Clip]) -> Option<String> {
    let mut drivers: HashMap<(u32, Property), Vec<(usize, bool)>> = HashMap::new();
    for clip in playbacks.iter().map(|playback| playback.clip as usize) {
        for Channel { node, property, interpolation, times, values } in
            clips.get(clip).into_iter().flat_map(|c| &c.channels)
        {
            drivers.entry((*node, *property)).or_default().push((clip, varies(*interpolation, times, values)));
        }
    }
    drivers.retain(|_, drivers| {
        drivers.dedup_by_key(|(clip, _)| *clip);
        drivers.len() > 1 && drivers.iter().any(|(_, varies)| *varies)
    });
    let involved: HashSet<usize> = drivers.values().flatten().map(|(clip, _)| *clip).collect();
    let nodes: HashSet<u32> = drivers.keys().map(|(node, _)| *node).collect();
    let played = playbacks.iter().map(|playback| playback.clip as usize).filter(|clip| involved.contains(clip));
    let names: Vec<&str> = played.map(|clip| &clips[clip].name[..]).collect();
    let (last, others) = names.split_last()?;
    Some(format!(
        "the animations {} and {last} move the same {}, and only the last one of them is seen there: play one by its name, or make a \
         video of each with {{animation}} in --output",
        others.join(", "),
        match nodes.len() {
            1 => "node".to_owned(),
            count => format!("{count} nodes"),
        }
    ))
}

/// Number of frames of one cycle of the longest of `playbacks`, without a repeated first pose. If clips are played once, the number up to
/// the last pose.
pub fn round(playbacks: &[Playback], clips: &[Clip], fps: f64) -> u32 {
    let frames = playbacks.iter().filter_map(|playback| {
        let duration = f64::from(clips.get(playback.clip as usize)?.duration);
        let speed = playback.speed;
        if playback.looped {
            return Some((duration / speed.abs() * fps).round());
        }
        let offset = playback.offset.clamp(0.0, duration);
        let left = if speed < 0.0 { offset } else { duration - offset };
        // The tolerance of a thousandth of a frame allows for rounding of times.
        Some((left / speed.abs() * fps - 1e-3).ceil() + 1.0)
    });
    frames.fold(1.0, f64::max).min(MOST_FRAMES) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::rig::Interpolation;

    fn clips(names: &[&str]) -> Vec<Clip> {
        let clip =
            |(i, name): (usize, &&str)| Clip { name: (*name).to_owned(), duration: (i + 1) as f32, ..Clip::default() };
        names.iter().enumerate().map(clip).collect()
    }

    fn chosen(texts: &[&str], names: &[&str]) -> Result<Vec<u32>, String> {
        let options =
            AnimationOptions { clips: texts.iter().map(|t| (*t).to_owned()).collect(), ..AnimationOptions::default() };
        let playbacks = playbacks(&options, &clips(names))?;
        Ok(playbacks.iter().map(|p| p.clip).collect())
    }

    #[test]
    fn clips_are_chosen_by_name_index_list_or_all_at_once() {
        let names = ["Survey", "Walk, slowly", "Run"];
        assert_eq!(chosen(&["Run", "0"], &names), Ok(vec![2, 0]));
        assert_eq!(chosen(&["Run,Survey,2"], &names), Ok(vec![2, 0]));
        assert_eq!(chosen(&["Walk, slowly"], &names), Ok(vec![1]));
        assert_eq!(chosen(&["all"], &names), Ok(vec![0, 1, 2]));
        assert_eq!(chosen(&["all"], &["all", "b"]), Ok(vec![0]));
        assert_eq!(chosen(&[], &names), Ok(vec![]));
    }

    #[test]
    fn a_faulty_clip_is_an_error_by_name_and_left_out_of_all() {
        let mut clips = clips(&["Run", "Broken"]);
        clips[1].fault = Some("/animations/1: odd".to_owned());
        let chosen = |text: &str| named(text, &clips);
        assert_eq!(chosen("all"), Ok(vec![0]));
        for text in ["Broken", "1", "Run,Broken"] {
            assert_eq!(chosen(text), Err("the animation `Broken` cannot be played: /animations/1: odd".to_owned()));
        }
        clips[0].fault = Some("/animations/0: odd".to_owned());
        assert!(named("all", &clips).is_err_and(|e| e.contains("`Run` cannot be played")));
    }

    #[test]
    fn an_unknown_clip_is_told_with_those_there_are() {
        let error = chosen(&["Runn"], &["Survey", "Run"]).unwrap_err();
        assert_eq!(error, "there is no animation `Runn`: did you mean `Run`? the animations are Survey, Run");
        let error = chosen(&["all"], &[]).unwrap_err();
        assert_eq!(error, "there is no animation `all`: there are no animations");
    }

    #[test]
    fn clips_are_played_by_themselves_under_names_of_their_own() {
        let all = AnimationOptions { clips: vec!["all".into()], ..AnimationOptions::default() };
        let of = |names: &[&str]| {
            let singles = singles(&all, &clips(names), |_| 1).unwrap();
            singles.into_iter().map(|single| [single.choice, single.name, single.label]).collect::<Vec<_>>()
        };
        assert_eq!(of(&["Run", "a/b"]), [["Run"; 3], ["a/b", "a_b", "a/b"]]);
        let alike = [["0", "Run", "Run (0)"], ["run", "run_2", "run"], ["2", "Run_3", "Run (2)"]];
        assert_eq!(of(&["Run", "run", "Run"]), alike);
        let mut clips = clips(&["Run", "run", "Run", "", "Broken"]);
        clips[4].fault = Some("/animations/4: odd".to_owned());
        assert_eq!(animation_choices(&clips), ["0", "run", "2", "3"]);
    }

    #[test]
    fn clips_that_move_the_same_things_are_told() {
        let channel = |node, property, end: f32| Channel {
            node,
            property,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0, 0.0, 0.0, end, end, end],
        };
        let mut clips = clips(&["Walk", "Wave", "Run"]);
        clips[0].channels = vec![channel(0, Property::Translation, 1.0), channel(1, Property::Scale, 0.0)];
        clips[1].channels = vec![channel(0, Property::Scale, 1.0), channel(1, Property::Scale, 0.0)];
        clips[2].channels = vec![channel(0, Property::Translation, 0.0)];
        let told = |played: &[u32]| {
            let playback = |&clip| Playback { clip, ..Playback::default() };
            overridden(&played.iter().map(playback).collect::<Vec<_>>(), &clips)
        };
        assert_eq!(told(&[0]), None);
        assert_eq!(told(&[0, 1]), None, "what both hold still matters to nobody");
        let warning = told(&[0, 1, 2]).unwrap();
        assert!(warning.starts_with("the animations Walk and Run move the same node, and only"), "{warning}");
    }

    #[test]
    fn a_round_is_as_long_as_its_longest_clip_and_its_speed_say() {
        let clips = clips(&["a", "b"]);
        let playback = |clip, speed, offset, looped| Playback { clip, speed, offset, looped };
        let frames = |p: &[Playback]| round(p, &clips, 24.0);
        let (a, b) = (playback(0, 1.0, 0.0, true), playback(1, 1.0, 0.5, true));
        assert_eq!((frames(&[a]), frames(&[a, b])), (24, 48));
        assert_eq!(frames(&[playback(1, -4.0, 0.0, true)]), 12);
        assert_eq!(frames(&[playback(1, 1.0, 0.5, false)]), 37);
        assert_eq!(frames(&[playback(1, -1.0, 0.5, false)]), 13);
        assert_eq!(frames(&[playback(1, 1e-30, 0.0, true)]), 100_000);
        assert_eq!(frames(&[]), 1);
    }
}
