//! Videos: finished frames are piped to ffmpeg.

use super::{
    VideoFormat, VideoSettings,
    stored::Stored,
    yuv::{self, even_size},
};
use crate::{InOrder, Metadata, OutputError, PartialFile, Picture, Sink};
use std::{
    borrow::Cow,
    ffi::OsString,
    fs::OpenOptions,
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread::{self, JoinHandle},
};
use throng_base::system::without_ctrl_c;

/// Name of the program in the PATH.
const PROGRAM: &str = "ffmpeg";
/// Maximum number of bytes of ffmpeg's messages that are kept.
const LONGEST_MESSAGE: u64 = 1 << 16;

/// An encoder of ffmpeg, and its arguments.
struct Encoder {
    name: String,
    arguments: Vec<String>,
}

/// Opens a video.
///
/// # Errors
/// If there is no ffmpeg, if none of the candidate encoders works, or if the file cannot be created.
pub fn open(path: PathBuf, format: VideoFormat, settings: &VideoSettings) -> Result<InOrder, OutputError> {
    let failed = |error| OutputError::File { path: path.clone(), error };
    let encoder = choose_encoder(format, settings).map_err(failed)?;
    let part = PartialFile::create(&path).map_err(failed)?;
    let video = Video::start(part, format, &encoder, settings).map_err(failed)?;
    let convert = if Stored::by(&encoder.name, format, settings.transparent).is_converted_here() {
        yuv::convert
    } else {
        |picture: &Picture| picture.bytes().map(Cow::into_owned)
    };
    Ok(InOrder::new(path, Box::new(convert), Box::new(video)))
}

/// Encoders in order of preference. Hardware encoders come first; they work if the driver and ffmpeg's build support them.
fn candidates(format: VideoFormat, settings: &VideoSettings) -> Vec<Encoder> {
    let quality = settings.quality;
    // Constant quality: 90 of 100 is CRF 18, which is visually almost lossless.
    let crf = (12.0 + 0.6 * f64::from(100 - quality.min(100))).min(51.0).round();
    let encoder = |name: &str, arguments: &str| Encoder {
        name: name.into(),
        arguments: arguments.split_whitespace().map(String::from).collect(),
    };
    // Alternate reference frames are not displayed and cannot have alpha.
    let hidden = if settings.transparent { "-auto-alt-ref 0" } else { "" };
    let vp9 = encoder(
        "libvpx-vp9",
        &format!("-crf {} -b:v 0 -deadline realtime -cpu-used 6 -row-mt 1 -tile-columns 2 {hidden}", crf + 8.0),
    );
    match format {
        VideoFormat::Mov if settings.transparent => vec![encoder("prores_ks", "-profile:v 4444 -alpha_bits 16")],
        VideoFormat::WebM if settings.transparent => vec![vp9],
        VideoFormat::WebM => vec![
            encoder("av1_nvenc", &format!("-preset p4 -cq {} -b:v 0", crf + 10.0)),
            vp9,
            encoder("libsvtav1", &format!("-preset 9 -crf {}", crf + 12.0)),
        ],
        _ => vec![
            encoder("h264_nvenc", &format!("-preset p4 -rc vbr -cq {crf} -b:v 0")),
            encoder("h264_videotoolbox", &format!("-q:v {quality}")),
            encoder("libx264", &format!("-preset fast -crf {crf}")),
            encoder("mpeg4", "-q:v 3"),
        ],
    }
}

fn choose_encoder(format: VideoFormat, settings: &VideoSettings) -> io::Result<Encoder> {
    let all = candidates(format, settings);
    let Some(name) = &settings.codec else {
        let mut complaint = None;
        for encoder in all {
            match try_encoder(&encoder, format, settings) {
                Ok(()) => return Ok(encoder),
                Err(error) if error.kind() == NO_PROGRAM => return Err(error),
                Err(error) => complaint = Some(error),
            }
        }
        return Err(complaint.unwrap_or_else(|| ErrorKind::Unsupported.into()));
    };
    let known = all.into_iter().find(|encoder| encoder.name == *name);
    let encoder = known.unwrap_or_else(|| other_encoder(name, settings.quality));
    try_encoder(&encoder, format, settings)?;
    Ok(encoder)
}

/// An encoder that is not among the candidates.
fn other_encoder(name: &str, quality: u8) -> Encoder {
    let arguments = match name {
        // The default of ffmpeg is a fixed bit rate, which suits no picture size. 2 is the best quality, 31 the worst.
        "mjpeg" => vec!["-q:v".to_owned(), (2 + 29 * u32::from(100 - quality.min(100)) / 100).to_string()],
        _ => Vec::new(),
    };
    Encoder { name: name.to_owned(), arguments }
}

/// Checks that an encoder works, by encoding one frame of the video's size and discarding it.
fn try_encoder(encoder: &Encoder, format: VideoFormat, settings: &VideoSettings) -> io::Result<()> {
    let (width, height) = even_size(settings.width, settings.height);
    let mut command = ffmpeg();
    command
        .args(["-f", "lavfi", "-i", &format!("color=black:s={width}x{height}:r=24")])
        .args(["-frames:v", "1", "-pix_fmt", Stored::by(&encoder.name, format, settings.transparent).pixels])
        .args(["-c:v", &encoder.name])
        .args(&encoder.arguments)
        .args(["-f", "null", "-"])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let output = command.output().map_err(no_ffmpeg)?;
    if output.status.success() { Ok(()) } else { Err(complaint(&output.stderr, &encoder.name)) }
}

fn ffmpeg() -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["-hide_banner", "-loglevel", "error", "-y"]);
    // Ctrl-C is handled by this program.
    without_ctrl_c(&mut command);
    command
}

/// Error kind for a missing ffmpeg, after which no other encoder is tried. It must differ from the kind for a missing folder.
const NO_PROGRAM: ErrorKind = ErrorKind::Unsupported;

fn no_ffmpeg(error: io::Error) -> io::Error {
    let message = match error.kind() {
        ErrorKind::NotFound => "there is no ffmpeg on the PATH, which makes videos; install it, or make an animation \
             (.webp, .apng or .gif)"
            .to_owned(),
        _ => format!("ffmpeg cannot be started: {error}"),
    };
    io::Error::new(NO_PROGRAM, message)
}

/// An error with the last line of ffmpeg's messages.
fn complaint(stderr: &[u8], encoder: &str) -> io::Error {
    let text = String::from_utf8_lossy(stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let line: String = last.unwrap_or("it gave no reason").chars().filter(|c| !c.is_control()).take(300).collect();
    io::Error::other(format!("ffmpeg failed with the encoder {encoder}: {}", line.trim()))
}

/// A running ffmpeg process that writes to a temporary file.
struct Video {
    encoder: String,
    child: Child,
    /// None once all frames were sent.
    pipe: Option<ChildStdin>,
    /// Thread that reads ffmpeg's messages while it runs. Otherwise ffmpeg would block on a full pipe.
    messages: Option<JoinHandle<Vec<u8>>>,
    part: PartialFile,
}

impl Video {
    fn start(part: PartialFile, format: VideoFormat, encoder: &Encoder, settings: &VideoSettings) -> io::Result<Self> {
        let (stdout, file) = output(part.path())?;
        let mut child = command(&file, format, encoder, settings)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_ffmpeg)?;
        let pipe = child.stdin.take();
        if let Some(pipe) = &pipe {
            widen(pipe);
        }
        let messages = child
            .stderr
            .take()
            .map(|stderr| thread::Builder::new().spawn(move || read_messages(stderr)))
            .transpose()?;
        Ok(Self { encoder: encoder.name.clone(), child, pipe, messages, part })
    }

    /// Waits for ffmpeg to end.
    ///
    /// # Errors
    /// If ffmpeg failed, with its last message.
    fn wait(&mut self) -> io::Result<()> {
        drop(self.pipe.take());
        let status = self.child.wait()?;
        let messages = self.messages.take().and_then(|thread| thread.join().ok());
        if status.success() { Ok(()) } else { Err(complaint(&messages.unwrap_or_default(), &self.encoder)) }
    }
}

/// The standard output of ffmpeg, and the path of the file that it writes. If this process is killed, ffmpeg continues, and would create
/// its file by name after a later run has removed it. Writing to a descriptor avoids this: the removed file vanishes when ffmpeg ends. The
/// file is opened a second time for ffmpeg, because a shared descriptor would keep the lock of [`PartialFile`] after this process has died.
fn output(part: &Path) -> io::Result<(Stdio, PathBuf)> {
    // Only the folder is checked: descriptor 1 may be closed in this process, but is open in ffmpeg.
    if Path::new("/proc/self/fd").is_dir() {
        Ok((OpenOptions::new().write(true).open(part)?.into(), "/proc/self/fd/1".into()))
    } else {
        Ok((Stdio::null(), part.to_owned()))
    }
}

fn command(file: &Path, format: VideoFormat, encoder: &Encoder, settings: &VideoSettings) -> Command {
    let (width, height) = even_size(settings.width, settings.height);
    let stored = Stored::by(&encoder.name, format, settings.transparent);
    let tags = stored.tags();
    let rate = settings.rate.to_string();
    let mut command = ffmpeg();
    command.args(["-f", "rawvideo"]);
    if stored.is_converted_here() {
        command.args(["-pix_fmt", stored.pixels, "-s", &format!("{width}x{height}")]).args(tags);
        command.args(["-framerate", &rate, "-i", "pipe:0", "-an"]);
    } else {
        let pixels = if settings.transparent { "rgba" } else { "rgb24" };
        command.args(["-pix_fmt", pixels, "-s", &format!("{}x{}", settings.width, settings.height)]);
        command.args(["-framerate", &rate, "-i", "pipe:0", "-an"]);
        command.args(["-vf", &stored.filter((settings.width, settings.height), settings.transparent)]);
    }
    command.args(["-c:v", &encoder.name]).args(&encoder.arguments).args(tags);
    command.args(["-pix_fmt", stored.pixels]);
    if matches!(format, VideoFormat::Mp4 | VideoFormat::Mov) && is_hevc(&encoder.name) {
        // Apple's players accept no other tag.
        command.args(["-tag:v", "hvc1"]);
    }
    for (key, text) in ["title", "comment"].iter().zip(&settings.texts) {
        command.args(["-metadata", &format!("{key}={text}")]);
    }
    let muxer: &[&str] = match format {
        VideoFormat::WebM => &["-f", "webm"],
        VideoFormat::Mkv => &["-f", "matroska"],
        VideoFormat::Mov => &["-f", "mov", "-movflags", "+faststart"],
        // The index is at the start of the file, so that browsers can play it while loading.
        _ => &["-f", "mp4", "-movflags", "+faststart"],
    };
    // With this prefix, names that contain a colon or start with a dash are still treated as file names.
    let mut url = OsString::from("file:");
    url.push(file);
    command.args(muxer).arg(url);
    command
}

fn is_hevc(encoder: &str) -> bool {
    encoder.contains("hevc") || encoder.contains("265")
}

fn read_messages(stderr: impl Read) -> Vec<u8> {
    let mut start = Vec::new();
    let mut stderr = stderr.take(LONGEST_MESSAGE);
    // Messages that cannot be read are ignored.
    let _ = stderr.read_to_end(&mut start);
    let _ = io::copy(&mut stderr.into_inner(), &mut io::sink());
    start
}

/// Enlarges the pipe: frames have many megabytes, and a pipe takes 64 KB by default.
#[cfg(target_os = "linux")]
fn widen(pipe: &ChildStdin) {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open while `pipe` is borrowed, and the call takes no pointers. If it fails, the pipe keeps its size.
    unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
}

#[cfg(not(target_os = "linux"))]
fn widen(_: &ChildStdin) {}

impl Sink for Video {
    fn add(&mut self, planes: Vec<u8>, _: &Metadata) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Err(ErrorKind::BrokenPipe.into());
        };
        match pipe.write_all(&planes) {
            Ok(()) => Ok(()),
            // ffmpeg has ended, and its messages have the reason.
            Err(error) => Err(self.wait().err().unwrap_or(error)),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.wait()?;
        self.part.persist()
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        // After an error or Ctrl-C the video is not needed. If ffmpeg has ended, killing it has no effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod orphan_tests {
    use super::{
        super::tests::{has_ffmpeg, settings},
        *,
    };
    use std::fs;

    #[test]
    fn an_ffmpeg_without_its_parent_leaves_no_file() {
        if !has_ffmpeg() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let part = PartialFile::create(&dir.path().join("video.mp4")).unwrap();
        let encoder = Encoder { name: "mpeg4".into(), arguments: Vec::new() };
        let mut video = Video::start(part, VideoFormat::Mp4, &encoder, &settings()).unwrap();
        // Simulates the next run, which removes the file before ffmpeg has read a frame or the end of its pipe.
        fs::remove_file(video.part.path()).unwrap();
        let _ = video.wait();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
