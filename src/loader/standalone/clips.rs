//! Chooses the clips of a model that are played, and counts the frames that this takes.

use crate::{
    loader::options::{AnimationOptions, choose},
    scene::rig::{Clip, Playback},
};
use std::collections::HashSet;

/// The name by which all clips of a file are played at once.
const ALL: &str = "all";
/// Most frames of a film; a clip that lasts longer is cut.
pub const MOST_FRAMES: f64 = 100_000.0;

/// The clips that `options` name, each once, in that order.
///
/// # Errors
/// A sentence about a name that no clip has, or about a clip that cannot be played.
pub fn playbacks(options: &AnimationOptions, clips: &[Clip]) -> Result<Vec<Playback>, String> {
    let (mut chosen, mut known) = (Vec::new(), HashSet::new());
    for text in &options.clips {
        let named = named(text, clips)?.into_iter();
        chosen.extend(named.filter(|clip| known.insert(*clip)));
    }
    Ok(chosen.iter().map(|&c| playback(options, clips, c)).collect())
}

/// The clips that `text` names: all are those that can be played. A name may have commas in it, and a clip may be called `all`.
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
    let ends_first = options.speed < 0.0 && !options.looped;
    let start = if ends_first { f64::from(clips[clip].duration) } else { 0.0 };
    Playback {
        clip: clip as u32,
        speed: options.speed,
        offset: options.offset.unwrap_or(start),
        looped: options.looped,
    }
}

/// Frames of one round of the longest of `playbacks`, without its first pose at the end again; or up to the last pose, where
/// clips are played once.
pub fn round(playbacks: &[Playback], clips: &[Clip], fps: f64) -> u32 {
    let frames = playbacks.iter().filter_map(|playback| {
        let duration = f64::from(clips.get(playback.clip as usize)?.duration);
        let speed = playback.speed;
        let left = match playback.looped {
            true => duration,
            false if speed < 0.0 => playback.offset.clamp(0.0, duration),
            false => duration - playback.offset.clamp(0.0, duration),
        };
        let frames = left / speed.abs() * fps;
        Some(match playback.looped {
            true => frames.round(),
            // Sums of seconds are not exact: a thousandth of a frame is no frame.
            false => (frames - 1e-3).ceil() + 1.0,
        })
    });
    frames.fold(1.0, f64::max).min(MOST_FRAMES) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

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
