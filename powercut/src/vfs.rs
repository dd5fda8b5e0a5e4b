//! SQLite's file system with a [`crate::Disk`] beside it.
//!
//! A file that the usual file system opened gets another table of methods: a copy of its own in which
//! those that matter here are replaced. The table lies at the beginning of a [`Watched`], so each of
//! them finds the file's own table and what it is called.
#![allow(
    unsafe_code,
    reason = "a file system for SQLite is a table of C functions"
)]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::ffi;

use crate::disk::{self, FileId, Off};

/// The usual file system.
static USUAL: OnceLock<Usual> = OnceLock::new();

struct Usual(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite's file systems are made to be used by every thread, and this one is never changed.
unsafe impl Send for Usual {}
// SAFETY: as above.
unsafe impl Sync for Usual {}

#[repr(C)]
struct Watched {
    table: ffi::sqlite3_io_methods,
    own: *const ffi::sqlite3_io_methods,
    path: PathBuf,
    id: FileId,
    /// Whether the next sync is one of its name too.
    is_new: AtomicBool,
}

/// Puts the shim before SQLite's default file system, once.
pub(crate) fn register() -> io::Result<()> {
    USUAL.get_or_init(|| {
        // SAFETY: a null name asks for the default; SQLite keeps it for as long as the process lives.
        let usual = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        assert!(!usual.is_null(), "SQLite has a file system");
        let shim = ffi::sqlite3_vfs {
            pNext: ptr::null_mut(),
            zName: c"powercut".as_ptr(),
            xOpen: Some(open),
            xDelete: Some(delete),
            // SAFETY: not null, so a file system of SQLite's; the copy shares its functions and its
            // application data, which it never frees.
            ..unsafe { *usual }
        };
        // SAFETY: leaked, so there for as long as SQLite may use it.
        let code = unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(shim)), 1) };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite takes a file system");
        Usual(usual)
    });
    Ok(())
}

fn usual() -> *mut ffi::sqlite3_vfs {
    USUAL.get().map_or(ptr::null_mut(), |usual| usual.0)
}

/// # Safety
/// `name` is null or a C string that lives as long as the answer is used.
unsafe fn path<'a>(name: *const c_char) -> Option<&'a Path> {
    // SAFETY: the caller's word.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
    Some(Path::new(OsStr::from_bytes(name.to_bytes())))
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes null or a C string, which outlives the call.
    let path = unsafe { path(name) };
    let made = path.is_some_and(|path| !path.exists()) && flags & ffi::SQLITE_OPEN_CREATE != 0;
    let allowed = path.and_then(|path| {
        disk::within(path, |disk| match made {
            true => disk.creating(path),
            false => disk.powered(),
        })
    });
    if let Some(Err(Off)) = allowed {
        // SAFETY: SQLite passes room for a file; one without methods is never closed.
        unsafe { (*file).pMethods = ptr::null() };
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: the usual file system exists while the shim is called, and gets what SQLite passed.
    let code = unsafe {
        (*usual())
            .xOpen
            .map(|open| open(usual(), name, file, flags, out))
    };
    let code = code.unwrap_or(ffi::SQLITE_ERROR);
    let Some(path) = path.filter(|_| code == ffi::SQLITE_OK && allowed.is_some()) else {
        return code;
    };
    let Some(Ok(id)) = disk::within(path, |disk| disk.opened(path, made)) else {
        return ffi::SQLITE_IOERR;
    };
    let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_WAL;
    // SAFETY: the file was opened just now, so its methods are there, and static.
    let own = unsafe { (*file).pMethods };
    let watched = Watched {
        table: ffi::sqlite3_io_methods {
            xClose: Some(close),
            xRead: Some(read),
            xWrite: Some(write),
            xTruncate: Some(truncate),
            xSync: Some(sync),
            // SAFETY: as above.
            ..unsafe { *own }
        },
        own,
        path: path.to_owned(),
        id,
        is_new: AtomicBool::new(made && flags & journals != 0),
    };
    // SAFETY: SQLite's room for a file. `close` takes the box back.
    unsafe { (*file).pMethods = Box::into_raw(Box::new(watched)).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_names: c_int,
) -> c_int {
    // SAFETY: SQLite passes a C string, which outlives the call.
    let path = unsafe { path(name) };
    let gone = path.filter(|path| path.exists()).and_then(|path| {
        disk::within(path, |disk| {
            disk.delete(path)?;
            if let (Some(dir), true) = (path.parent(), sync_names != 0) {
                disk.sync_names(dir);
            }
            io::Result::Ok(())
        })
    });
    if let Some(Err(_)) = gone {
        return ffi::SQLITE_IOERR_DELETE;
    }
    // SAFETY: as in `open`.
    let code = unsafe { (*usual()).xDelete.map(|delete| delete(usual(), name, 0)) };
    code.unwrap_or(ffi::SQLITE_ERROR)
}

/// # Safety
/// `file` was opened by [`open`] with a table of its own, and is not closed.
unsafe fn watched<'a>(file: *mut ffi::sqlite3_file) -> &'a Watched {
    // SAFETY: the table is the first field of the `Watched` that `open` has made and `close` will free.
    unsafe { &*(*file).pMethods.cast::<Watched>() }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: only files with a table of their own come here, and each once: the box comes back.
    let watched = unsafe { Box::from_raw((*file).pMethods.cast::<Watched>().cast_mut()) };
    // SAFETY: the file is again as the usual file system opened it.
    let code = unsafe {
        (*file).pMethods = watched.own;
        (*watched.own).xClose.map(|close| close(file))
    };
    code.unwrap_or(ffi::SQLITE_OK)
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    bytes: *mut c_void,
    count: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: only files with a table of their own come here.
    let watched = unsafe { watched(file) };
    if let Some(Err(Off)) = disk::within(&watched.path, |disk| disk.powered()) {
        return ffi::SQLITE_IOERR_READ;
    }
    // SAFETY: the file's own method gets what SQLite passed.
    let code = unsafe {
        (*watched.own)
            .xRead
            .map(|read| read(file, bytes, count, at))
    };
    code.unwrap_or(ffi::SQLITE_IOERR)
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    let (Ok(length), Ok(offset)) = (usize::try_from(count), usize::try_from(at)) else {
        return ffi::SQLITE_IOERR_WRITE;
    };
    // SAFETY: only files with a table of their own come here; SQLite passes `count` bytes.
    let (watched, content) = unsafe {
        (
            watched(file),
            std::slice::from_raw_parts(bytes.cast::<u8>(), length),
        )
    };
    let written = disk::within(&watched.path, |disk| {
        disk.write(watched.id, &watched.path, offset, content)
    });
    if let Some(Err(Off)) = written {
        return ffi::SQLITE_IOERR_WRITE;
    }
    // SAFETY: the file's own method gets what SQLite passed.
    let code = unsafe {
        (*watched.own)
            .xWrite
            .map(|write| write(file, bytes, count, at))
    };
    code.unwrap_or(ffi::SQLITE_IOERR)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, length: ffi::sqlite3_int64) -> c_int {
    let Ok(bytes) = usize::try_from(length) else {
        return ffi::SQLITE_IOERR_TRUNCATE;
    };
    // SAFETY: only files with a table of their own come here.
    let watched = unsafe { watched(file) };
    let cut = disk::within(&watched.path, |disk| {
        disk.truncate(watched.id, &watched.path, bytes)
    });
    if let Some(Err(Off)) = cut {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    // SAFETY: the file's own method gets what SQLite passed.
    let code = unsafe {
        (*watched.own)
            .xTruncate
            .map(|truncate| truncate(file, length))
    };
    code.unwrap_or(ffi::SQLITE_IOERR)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: only files with a table of their own come here.
    let watched = unsafe { watched(file) };
    let synced = disk::within(&watched.path, |disk| {
        disk.sync(watched.id, &watched.path)?;
        if let (Some(dir), true) = (
            watched.path.parent(),
            watched.is_new.swap(false, Ordering::Relaxed),
        ) {
            disk.sync_names(dir);
        }
        Ok(())
    });
    match synced {
        Some(Ok(())) => ffi::SQLITE_OK,
        Some(Err(Off)) => ffi::SQLITE_IOERR_FSYNC,
        None => {
            // SAFETY: nobody watches any more: the file's own method gets what SQLite passed.
            let code = unsafe { (*watched.own).xSync.map(|sync| sync(file, flags)) };
            code.unwrap_or(ffi::SQLITE_OK)
        }
    }
}
