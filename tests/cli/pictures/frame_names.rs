//! Names and numbers of frames: patterns in the notations of other programs, and animations that do not begin at frame 1.

use crate::common::Place;
use std::fs;

const TINY: [&str; 4] = ["render", "scene.ron", "--size", "16x9"];

fn render(place: &Place, more: &[&str]) {
    place.ok(&[&TINY[..], more].concat());
}

#[test]
fn patterns_of_other_programs_name_frames() {
    let place = Place::new(3);
    for (folder, pattern) in ["%04d", "$F4", "@@@@", "<frame04>", "<f4>", "{frame:04}", "####"].iter().enumerate() {
        render(&place, &["-o", &format!("{folder}/f_{pattern}.png")]);
        assert_eq!(place.names(&folder.to_string()), ["f_0001.png", "f_0002.png", "f_0003.png"], "{pattern}");
    }
    render(&place, &["-o", "plain/%d.png", "-f", "1,2"]);
    render(&place, &["-o", "plain/<frame>_.png", "-f", "3"]);
    assert_eq!(place.names("plain"), ["1.png", "2.png", "3_.png"]);
    place.ok(&["diff", "--sequence", "0/f_%04d.png", "1/f_$F4.png"]);
    place.fails(&["render", "scene.ron", "-o", "a.png", "--video", "f_%04d.gif"], 2, "one file");
}

#[test]
fn percent_signs_can_be_written_and_files_found_whose_names_have_them() {
    let place = Place::new(2);
    render(&place, &["-o", "50%%_%%04d_##.exr", "--layers", "albedo,normal,motion,variance", "--samples", "2"]);
    render(&place, &["-o", "50%.png", "-f", "1"]);
    assert_eq!(place.names("."), ["50%.png", "50%_%04d_01.exr", "50%_%04d_02.exr", "scene.ron"]);
    place.ok(&["denoise", "50%%_%%04d_@@.exr", "-o", "clean/%03d.exr"]);
    assert_eq!(place.names("clean"), ["001.exr", "002.exr"]);
    fs::rename(place.path("50%_%04d_01.exr"), place.path("f_%04d.exr")).unwrap();
    place.ok(&["denoise", "f_%04d.exr", "-o", "still.exr"]);
}

#[test]
fn jobs_of_farms_have_the_pattern() {
    let place = Place::new(2);
    let job = place.ok(&["farm", "slurm", "scene.ron", "-o", "out/$F4_%%d.png", "--denoise", "off"]).stdout;
    assert!(job.contains("--output 'out/####_%%d.png'"), "{job}");
}

#[test]
fn sequences_may_begin_at_any_number() {
    let place = Place::new(4);
    render(&place, &["-o", "from_1/####.exr"]);
    for (first, names) in [("1001", ["1001.exr", "1002.exr"]), ("0", ["0000.exr", "0001.exr"])] {
        let set = format!("render.first_frame={first}");
        let last = first.parse::<u32>().unwrap() + 1;
        let (folder, frames) = (format!("from_{first}"), format!("{first}-{last}"));
        render(&place, &["-o", &format!("{folder}/####.exr"), "--set", &set, "-f", &frames]);
        assert_eq!(place.names(&folder), names);
        // Only the noise differs, not the time.
        let seconds = |name: &str| {
            let file = fs::read(place.path(name)).unwrap();
            let at = file.windows(15).position(|bytes| bytes == b"seconds\0double\0").unwrap() + 19;
            f64::from_le_bytes(file[at..at + 8].try_into().unwrap())
        };
        assert_eq!(seconds(&format!("{folder}/{}", names[0])), 0.0);
        assert_eq!(seconds(&format!("{folder}/{}", names[1])), seconds("from_1/0002.exr"));
    }
    let set = ["--set", "render.first_frame=1001"];
    let outside = "frame 1 does not exist: the scene has frames 1001 to 1004";
    let run = place.run(&[&TINY[..], &set, &["-f", "1-4"]].concat());
    assert!(run.code != 0);
    run.assert_one_error(outside);
    render(&place, &[&set[..], &["-o", "still.png"]].concat());
    let job = place.ok(&[&["farm", "slurm", "scene.ron", "-o", "out/####.png"], &set[..]].concat()).stdout;
    assert!(job.contains("frames=(1001-1004)"), "{job}");
    // At the first and last frame, denoising uses only the existing neighbours.
    render(&place, &[&set[..], &["--denoise", "--samples", "2", "-o", "clean/####.png"]].concat());
    assert_eq!(place.names("clean").len(), 4);
    assert!(place.run(&[&TINY[..], &["--set", "render.first_frame=-1"]].concat()).code != 0);
}
