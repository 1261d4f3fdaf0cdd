use super::*;
use crate::{
    FileFormat, Pixels,
    picture::testing::{metadata, picture},
};
use image::AnimationDecoder;
use std::{fs, io::Cursor, path::Path, time::Duration};
use throng_testing::process::{command, output};

const SIZE: (u32, u32) = (33, 21);
const FRAMES: usize = 5;

pub(super) fn settings() -> VideoSettings {
    VideoSettings {
        transparent: false,
        width: SIZE.0,
        height: SIZE.1,
        rate: FrameRate::of(24.0),
        frames: FRAMES,
        quality: 90,
        codec: None,
        texts: ["spheres".into(), "made by a test".into()],
    }
}

/// A frame with few colours, different for each index.
fn rgb(index: usize) -> Vec<u8> {
    let pixel = |i: u32| [(i % SIZE.0 / 8) as u8 * 60, (index * 50) as u8, (i / SIZE.0 / 8) as u8 * 80];
    (0..SIZE.0 * SIZE.1).flat_map(pixel).collect()
}

fn video(path: &Path, format: VideoFormat, settings: &VideoSettings) -> Result<(), OutputError> {
    let video = open_video(path.to_owned(), format, settings)?;
    let metadata = metadata();
    for index in 0..FRAMES {
        video.add(index, &picture(SIZE, Pixels::U8(rgb(index).into()), &metadata))?;
        assert!(!path.exists(), "not before it is whole");
    }
    video.finish()
}

fn animation(format: VideoFormat) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    video(&path, format, &settings()).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    fs::read(path).unwrap()
}

/// Pixels and durations of all frames.
fn frames<'a>(decoder: impl AnimationDecoder<'a>) -> Vec<(Vec<u8>, f64)> {
    let frames = decoder.into_frames().collect_frames().unwrap();
    let frames = frames.into_iter().map(|frame| {
        let seconds = Duration::from(frame.delay()).as_secs_f64();
        (image::DynamicImage::from(frame.into_buffer()).into_rgb8().into_raw(), seconds)
    });
    frames.collect()
}

fn assert_exact(found: &[(Vec<u8>, f64)]) {
    assert_eq!(found.len(), FRAMES);
    for (index, (pixels, _)) in found.iter().enumerate() {
        assert!(*pixels == rgb(index), "frame {index}");
    }
    let seconds: f64 = found.iter().map(|(_, seconds)| seconds).sum();
    assert!((seconds - FRAMES as f64 / 24.0).abs() < 0.006, "{seconds}");
}

#[test]
fn animated_webp_files_keep_every_pixel() {
    let file = animation(VideoFormat::WebP);
    let decoder = image::codecs::webp::WebPDecoder::new(Cursor::new(file)).unwrap();
    assert_exact(&frames(decoder));
}

#[test]
fn animated_png_files_keep_every_pixel_and_open_as_their_first_frame() {
    let file = animation(VideoFormat::Apng);
    let first = image::load_from_memory(&file).unwrap().into_rgb8();
    assert!(first.into_raw() == rgb(0));
    let decoder = image::codecs::png::PngDecoder::new(Cursor::new(file)).unwrap();
    assert_exact(&frames(decoder.apng().unwrap()));
}

#[test]
fn gif_files_show_every_frame_for_its_time() {
    let mut options = ::gif::DecodeOptions::new();
    options.set_color_output(::gif::ColorOutput::RGBA);
    let file = animation(VideoFormat::Gif);
    let mut decoder = options.read_info(&file[..]).unwrap();
    let (mut count, mut hundredths) = (0, 0);
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        let expected = rgb(count);
        let pixels = frame.buffer.as_chunks::<4>().0.iter().zip(expected.as_chunks::<3>().0);
        let near = |a: u8, b: u8| a.abs_diff(b) < 16;
        let same = pixels.filter(|(a, b)| (0..3).all(|c| near(a[c], b[c]))).count();
        assert!(same > 680, "{same} of 693 pixels of frame {count}");
        count += 1;
        hundredths += frame.delay;
    }
    assert_eq!((count, hundredths), (FRAMES, 21));
    assert_eq!(decoder.repeat(), ::gif::Repeat::Infinite);
}

#[test]
fn rounding_of_durations_never_adds_up() {
    for (fps, per_second) in [(24.0, 1000.0), (30_000.0 / 1001.0, 100.0), (120.0, 100.0)] {
        let total: u32 = (0..1000).map(|index| duration(index, FrameRate::of(fps), per_second)).sum();
        let exact = 1000.0 * per_second / fps;
        assert!((f64::from(total) - exact).abs() <= 0.5, "{fps}");
    }
}

#[test]
fn videos_have_one_name() {
    let video = VideoName::parse_video("x/{scene}.webm").unwrap();
    assert_eq!(video.path("s"), Path::new("x/s.webm"));
    assert_eq!(video.format(), VideoFormat::WebM);
    assert_eq!(VideoName::parse_video("a").unwrap().path("s"), Path::new("a.mp4"));
    assert!(VideoName::parse_video("####.mp4").is_err());
    assert!(VideoName::parse_video("a.avi").is_err());
}

/// Whether ffmpeg is available for tests.
pub(super) fn has_ffmpeg() -> bool {
    let found = output(command("sh").args(["-c", "ffprobe -version"])).status;
    if !found.success() {
        println!("skipped: there is no ffmpeg with ffprobe on the PATH");
    }
    found.success()
}

#[test]
fn videos_have_all_frames_and_their_colours() {
    if !has_ffmpeg() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a -b:c.mkv");
    video(&path, VideoFormat::Mkv, &settings()).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    let mut probe = command("ffprobe");
    probe.args(["-v", "error", "-count_frames", "-of", "json", "-show_entries"]);
    probe.arg("stream=nb_read_frames,width,height,r_frame_rate,color_space,color_range:format_tags=title");
    let probed = output(probe.arg(format!("file:{}", path.display())));
    let found: serde_json::Value = serde_json::from_slice(&probed.stdout).unwrap();
    let stream = &found["streams"][0];
    assert_eq!(stream["nb_read_frames"], "5");
    assert_eq!((&stream["width"], &stream["height"]), (&34.into(), &22.into()));
    assert_eq!(stream["r_frame_rate"], "24/1");
    assert_eq!((&stream["color_space"], &stream["color_range"]), (&"bt709".into(), &"tv".into()));
    let shot = dir.path().join("shot.png");
    let mut first = command("ffmpeg");
    first.args(["-v", "error", "-i"]).arg(format!("file:{}", path.display())).args(["-frames:v", "1"]).arg(&shot);
    assert!(output(&mut first).status.success());
    let seen = image::open(&shot).unwrap().into_rgb8();
    let expected = image::RgbImage::from_raw(SIZE.0, SIZE.1, rgb(0)).unwrap();
    for at in [(4, 4), (20, 12)] {
        let (a, b) = (seen.get_pixel(at.0, at.1), expected.get_pixel(at.0, at.1));
        assert!((0..3).all(|c| a[c].abs_diff(b[c]) < 24), "{a:?} instead of {b:?}");
    }
}

/// Blocks of colours are as large as the codec's blocks, so only chroma subsampling could blur their edges.
#[test]
fn codecs_that_can_have_a_colour_for_each_pixel_do() {
    if !has_ffmpeg() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (codec, format, most) in
        [("prores_ks", VideoFormat::Mov, 3), ("mjpeg", VideoFormat::Mov, 4), ("ffv1", VideoFormat::Mkv, 0)]
    {
        let (path, shot) = (dir.path().join(codec), dir.path().join("shot.png"));
        video(&path, format, &VideoSettings { codec: Some(codec.into()), quality: 100, ..settings() }).unwrap();
        let mut first = command("ffmpeg");
        first.args(["-v", "error", "-y", "-i"]).arg(&path).args(["-frames:v", "1"]);
        first.args(["-vf", "scale=flags=accurate_rnd+full_chroma_int"]).arg(&shot);
        assert!(output(&mut first).status.success());
        let seen = image::open(&shot).unwrap().into_rgb8();
        let expected = image::RgbImage::from_raw(SIZE.0, SIZE.1, rgb(0)).unwrap();
        for (x, y, expected) in expected.enumerate_pixels() {
            let found = seen.get_pixel(x, y);
            let differs = (0..3).any(|c| found[c].abs_diff(expected[c]) > most);
            assert!(!differs, "{codec}: {found:?} instead of {expected:?} at {x}, {y}");
        }
    }
}

#[test]
fn an_encoder_that_does_not_work_is_told_before_any_frame() {
    if !has_ffmpeg() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let settings = VideoSettings { codec: Some("abacus".into()), ..settings() };
    let opened = open_video(dir.path().join("a.mp4"), VideoFormat::Mp4, &settings);
    let text = opened.err().unwrap().to_string();
    assert!(text.contains("ffmpeg failed with the encoder abacus: "), "{text}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_video_that_is_not_finished_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for format in [VideoFormat::WebP, VideoFormat::Apng, VideoFormat::Gif] {
        let video = open_video(dir.path().join("a"), format, &settings()).unwrap();
        let metadata = metadata();
        video.add(0, &picture(SIZE, Pixels::U8(rgb(0).into()), &metadata)).unwrap();
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(FileFormat::from_extension("gif"), None);
}
