//! File-system entries that are not regular files.

use std::{
    ffi::CString,
    fs::{self, File},
    io::{self, Read},
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, OpenOptionsExt, symlink},
        },
    },
    path::{Path, PathBuf},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Fifo,
    /// A FIFO with a reader, see [`Reader`].
    ReadFifo,
    Null,
    Zero,
    Full,
    Folder,
    LinkToFile,
    LinkToNothing,
    LinkToItself,
    LinkToFifo,
}

/// The target of the links, next to `path`.
pub fn target(path: &Path) -> PathBuf {
    path.with_extension("target")
}

/// Creates an entry in place of any existing one. Returns false if the system does not allow it.
pub fn make(path: &Path, kind: Kind) -> io::Result<bool> {
    if path.is_dir() {
        fs::remove_dir_all(path)?;
    } else if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let to = target(path);
    let name = to.file_name().unwrap_or_default();
    match kind {
        Kind::Fifo | Kind::ReadFifo => make_node(path, libc::S_IFIFO, 0)?,
        Kind::Null => return device(path, 3),
        Kind::Zero => return device(path, 5),
        Kind::Full => return device(path, 7),
        Kind::Folder => fs::create_dir(path)?,
        Kind::LinkToItself => symlink(path.file_name().unwrap_or_default(), path)?,
        Kind::LinkToNothing => symlink(name, path)?,
        Kind::LinkToFile => {
            fs::write(&to, "what was there before")?;
            symlink(name, path)?;
        }
        Kind::LinkToFifo => {
            make_node(&to, libc::S_IFIFO, 0)?;
            symlink(name, path)?;
        }
    }
    Ok(true)
}

/// Creates a device node. If the system refuses, creates a link to the machine's node, but only if this process could not replace that
/// node.
fn device(path: &Path, minor: libc::c_uint) -> io::Result<bool> {
    if make_node(path, libc::S_IFCHR, libc::makedev(1, minor)).is_ok() && File::open(path).is_ok() {
        return Ok(true);
    }
    let _ = fs::remove_file(path);
    // SAFETY: the string is a literal.
    let could_be_replaced = unsafe { libc::access(c"/dev".as_ptr(), libc::W_OK) } == 0;
    if could_be_replaced {
        return Ok(false);
    }
    let name = if minor == 3 {
        "/dev/null"
    } else if minor == 5 {
        "/dev/zero"
    } else {
        "/dev/full"
    };
    symlink(name, path).map(|()| true)
}

fn make_node(path: &Path, kind: libc::mode_t, device: libc::dev_t) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the string lives until the call returns.
    match unsafe { libc::mknod(path.as_ptr(), kind | 0o666, device) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Identifies an entry, to detect its replacement.
pub fn identity(path: &Path) -> Option<(u64, u32)> {
    let data = fs::symlink_metadata(path).ok()?;
    Some((data.ino(), data.mode() & libc::S_IFMT))
}

/// A reader of a FIFO. Opening the FIFO does not block, and written data stay in it.
pub struct Reader(File);

impl Reader {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        // SAFETY: no pointers. If the call is refused, the FIFO keeps its default size.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
        Ok(Self(file))
    }

    /// Returns all data written to the FIFO.
    pub fn drain(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(bytes),
        }
    }
}
