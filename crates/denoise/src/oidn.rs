//! Bindings for the part of Open Image Denoise's C API, version 2, that is used here. The library is loaded at run time.

use super::DenoiseError;
use libloading::Library;
use std::{
    env,
    ffi::{CStr, c_char, c_int, c_void},
    path::{Path, PathBuf},
    ptr::null,
};

/// Environment variable with the folder of the library, for use if the dynamic linker does not find it.
const FOLDER: &str = "OIDN_DIR";
/// File names of the library, in order of preference.
const NAMES: [&str; 2] = if cfg!(target_os = "windows") {
    ["OpenImageDenoise.dll", "OpenImageDenoise2.dll"]
} else if cfg!(target_os = "macos") {
    ["libOpenImageDenoise.2.dylib", "libOpenImageDenoise.dylib"]
} else {
    ["libOpenImageDenoise.so.2", "libOpenImageDenoise.so"]
};
const DEVICE_DEFAULT: c_int = 0;
const FORMAT_FLOAT3: c_int = 3;

type Handle = *mut c_void;

/// Declares the API's functions, which are looked up by name.
macro_rules! functions {
    ($($field:ident = $name:literal: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl Functions {
            /// # Safety
            /// `library` must be Open Image Denoise 2, and must stay loaded.
            unsafe fn find(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are declared as in the API's header.
                unsafe { Ok(Self { $($field: *library.get($name)?,)* }) }
            }
        }
    };
}

functions! {
    new_device = b"oidnNewDevice": fn(c_int) -> Handle;
    commit_device = b"oidnCommitDevice": fn(Handle);
    release_device = b"oidnReleaseDevice": fn(Handle);
    device_int = b"oidnGetDeviceInt": fn(Handle, *const c_char) -> c_int;
    device_error = b"oidnGetDeviceError": fn(Handle, *mut *const c_char) -> c_int;
    new_buffer = b"oidnNewBuffer": fn(Handle, usize) -> Handle;
    release_buffer = b"oidnReleaseBuffer": fn(Handle);
    write_buffer = b"oidnWriteBuffer": fn(Handle, usize, usize, *const c_void);
    read_buffer = b"oidnReadBuffer": fn(Handle, usize, usize, *mut c_void);
    new_filter = b"oidnNewFilter": fn(Handle, *const c_char) -> Handle;
    release_filter = b"oidnReleaseFilter": fn(Handle);
    set_image = b"oidnSetFilterImage": fn(Handle, *const c_char, Handle, c_int, usize, usize, usize, usize, usize);
    set_bool = b"oidnSetFilterBool": fn(Handle, *const c_char, bool);
    commit_filter = b"oidnCommitFilter": fn(Handle);
    execute_filter = b"oidnExecuteFilter": fn(Handle);
}

/// The library, and a device of it.
pub struct Oidn {
    device: Handle,
    call: Functions,
    _library: Library,
}

// SAFETY: any thread may call the API, but only one at a time. This type is not `Sync`, and images and filters cannot be used without it.
unsafe impl Send for Oidn {}

impl Oidn {
    /// Loads the library and opens the fastest device that it supports on this machine.
    ///
    /// # Errors
    /// If the library is missing, has another major version, or finds no device.
    pub fn load() -> Result<Self, DenoiseError> {
        let library = open()?;
        // SAFETY: the library was loaded by the names of Open Image Denoise, and stays loaded.
        let call = unsafe { Functions::find(&library) }.map_err(|error| DenoiseError::Version(error.to_string()))?;
        // SAFETY: calls are as documented, for the default device type; `check` below detects a null device.
        let device = unsafe {
            let device = (call.new_device)(DEVICE_DEFAULT);
            (call.commit_device)(device);
            device
        };
        let oidn = Self { device, call, _library: library };
        oidn.check()?;
        let [major, minor, patch] = [c"versionMajor", c"versionMinor", c"versionPatch"].map(|name| oidn.int(name));
        if major != 2 {
            return Err(DenoiseError::Version(format!("it is version {major}.{minor}.{patch}")));
        }
        Ok(oidn)
    }

    fn int(&self, name: &CStr) -> c_int {
        // SAFETY: the device and the name are valid.
        unsafe { (self.call.device_int)(self.device, name.as_ptr()) }
    }

    /// Returns the error since the last check, if any.
    pub fn check(&self) -> Result<(), DenoiseError> {
        let mut text = null();
        // SAFETY: for a null device, the call returns the error of its creation; the text is valid until the next call.
        let (code, text) = unsafe {
            let code = (self.call.device_error)(self.device, &mut text);
            let text = (!text.is_null()).then(|| CStr::from_ptr(text));
            (code, text.map(|text| text.to_string_lossy().into_owned()))
        };
        match code {
            0 if !self.device.is_null() => Ok(()),
            _ => Err(DenoiseError::Oidn(text.unwrap_or_default())),
        }
    }

    /// Creates an image of `width` × `height` pixels.
    pub fn image(&self, width: usize, height: usize) -> Result<Image, DenoiseError> {
        let bytes = width * height * size_of::<[f32; 3]>();
        // SAFETY: the device is valid.
        let buffer = unsafe { (self.call.new_buffer)(self.device, bytes) };
        self.check()?;
        Ok(Image { buffer, width, height })
    }

    /// Copies pixels to an image of equal size.
    pub fn write(&self, image: &Image, pixels: &[f32]) {
        let bytes = size_of_val(pixels).min(image.bytes());
        // SAFETY: both sides have at least `bytes` bytes.
        unsafe { (self.call.write_buffer)(image.buffer, 0, bytes, pixels.as_ptr().cast()) }
    }

    /// Copies an image to pixels of equal size, after all writes to it have finished.
    pub fn read(&self, image: &Image, pixels: &mut [f32]) {
        let bytes = size_of_val(pixels).min(image.bytes());
        // SAFETY: both sides have at least `bytes` bytes.
        unsafe { (self.call.read_buffer)(image.buffer, 0, bytes, pixels.as_mut_ptr().cast()) }
    }

    /// Creates a filter for ray-traced pictures. `images` are given with their names in the API; the options named in `flags` are set.
    pub fn filter(&self, images: &[(&CStr, &Image)], flags: &[&CStr]) -> Result<Filter, DenoiseError> {
        // SAFETY: the images are valid and have the given sizes; the filter keeps a reference to each.
        let filter = unsafe {
            let filter = (self.call.new_filter)(self.device, c"RT".as_ptr());
            for (name, image) in images {
                let Image { buffer, width, height } = **image;
                let set = self.call.set_image;
                let format = FORMAT_FLOAT3;
                set(filter, name.as_ptr(), buffer, format, width, height, 0, 0, 0);
            }
            for flag in flags {
                (self.call.set_bool)(filter, flag.as_ptr(), true);
            }
            (self.call.commit_filter)(filter);
            filter
        };
        self.check()?;
        Ok(Filter(filter))
    }

    pub fn execute(&self, filter: &Filter) -> Result<(), DenoiseError> {
        // SAFETY: the filter is valid, and so are its images.
        unsafe { (self.call.execute_filter)(filter.0) };
        self.check()
    }

    /// Frees images and filters.
    pub fn release(&self, images: Vec<Image>, filters: Vec<Filter>) {
        // SAFETY: filters and images are valid and are not used afterwards.
        unsafe {
            for filter in filters {
                (self.call.release_filter)(filter.0);
            }
            for image in images {
                (self.call.release_buffer)(image.buffer);
            }
        }
    }
}

impl Drop for Oidn {
    fn drop(&mut self) {
        if !self.device.is_null() {
            // SAFETY: the device is valid and is not used afterwards.
            unsafe { (self.call.release_device)(self.device) }
        }
    }
}

/// An image of three floats per pixel, in memory that the device can access.
pub struct Image {
    buffer: Handle,
    width: usize,
    height: usize,
}

impl Image {
    fn bytes(&self) -> usize {
        self.width * self.height * size_of::<[f32; 3]>()
    }
}

/// A filter that is ready to be executed.
pub struct Filter(Handle);

// SAFETY: as for the library.
unsafe impl Send for Image {}
// SAFETY: as for the library.
unsafe impl Send for Filter {}

fn open() -> Result<Library, DenoiseError> {
    let mut first = None;
    for path in candidates(env::var_os(FOLDER).as_deref().map(Path::new)) {
        // SAFETY: loading runs the library's initialisers; the user who installed the library trusts it.
        match unsafe { Library::new(&path) } {
            Ok(library) => return Ok(library),
            Err(error) => _ = first.get_or_insert_with(|| error.to_string()),
        }
    }
    Err(DenoiseError::Missing(first.unwrap_or_default()))
}

/// Paths to try: in the given folder and its `lib` and `bin` folders. Without a folder, bare names, which the dynamic linker resolves.
fn candidates(folder: Option<&Path>) -> Vec<PathBuf> {
    let Some(folder) = folder else {
        return NAMES.map(PathBuf::from).to_vec();
    };
    let folders = [folder.join("lib"), folder.join("bin"), folder.to_owned()];
    let all = folders.iter().flat_map(|f| NAMES.map(|name| f.join(name)));
    all.filter(|path| path.exists()).chain([folder.join(NAMES[0])]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_named_is_the_only_one_searched() {
        let dir = tempfile::tempdir().unwrap();
        let found = candidates(Some(dir.path()));
        assert_eq!(found, [dir.path().join(NAMES[0])]);
        std::fs::create_dir(dir.path().join("lib")).unwrap();
        let inside = dir.path().join("lib").join(NAMES[1]);
        std::fs::write(&inside, "").unwrap();
        assert_eq!(candidates(Some(dir.path()))[0], inside);
        assert_eq!(candidates(None), NAMES.map(PathBuf::from));
    }
}
