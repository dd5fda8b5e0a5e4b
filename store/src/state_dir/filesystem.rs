//! Which file systems cannot hold a journal: those whose locks or shared memory another machine ignores.

use std::io;
use std::path::Path;

/// The name of the network file system that `path` lies on, `None` when it is a local one.
#[cfg(target_os = "linux")]
pub(super) fn network(path: &Path) -> io::Result<Option<String>> {
    let magic = u64::try_from(rustix::fs::statfs(path)?.f_type).unwrap_or(0) & 0xffff_ffff;
    if magic != FUSE {
        return Ok(by_magic(magic).map(str::to_owned));
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    Ok(fuse_kind(&mounts, &path.canonicalize()?)
        .filter(|kind| is_remote_fuse(kind))
        .map(str::to_owned))
}

/// Other systems say nothing that can be compared; the documentation asks for a local disk.
#[cfg(not(target_os = "linux"))]
pub(super) fn network(_path: &Path) -> io::Result<Option<String>> {
    Ok(None)
}

const FUSE: u64 = 0x6573_5546;

/// `statfs` magic numbers, from `linux/magic.h` and the file systems' own sources.
fn by_magic(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "nfs",
        0x517b => "smb",
        0xff53_4d42 => "cifs",
        0xfe53_4d42 => "smb2",
        0x0102_1997 => "9p",
        0x00c3_6400 => "ceph",
        0x5346_414f | 0x6b41_4653 => "afs",
        0x7375_7245 => "coda",
        0x564c => "ncp",
        0x0bd0_0bd0 => "lustre",
        0x0116_1970 => "gfs2",
        0x7461_636f => "ocfs2",
        0x4750_4653 => "gpfs",
        _ => return None,
    })
}

/// The type of the mount that holds `path`, from the text of `mountinfo`.
fn fuse_kind<'m>(mounts: &'m str, path: &Path) -> Option<&'m str> {
    mounts
        .lines()
        .filter_map(|line| {
            let (mount, kind) = line.split_once(" - ")?;
            let point = mount.split(' ').nth(4)?.replace("\\040", " ");
            let kind = kind.split(' ').next()?;
            path.starts_with(&point).then_some((point.len(), kind))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, kind)| kind)
}

fn is_remote_fuse(kind: &str) -> bool {
    const REMOTE: [&str; 12] = [
        "sshfs",
        "s3fs",
        "rclone",
        "glusterfs",
        "gcsfuse",
        "blobfuse",
        "blobfuse2",
        "davfs",
        "goofys",
        "juicefs",
        "mount-s3",
        "ceph-fuse",
    ];
    let name = kind.strip_prefix("fuse.").unwrap_or(kind);
    REMOTE.contains(&name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_network_file_system_is_told_from_a_local_one() {
        assert_eq!(by_magic(0x6969), Some("nfs"));
        assert_eq!(by_magic(0xef53), None);
        assert_eq!(network(Path::new("/proc")).unwrap(), None);
    }

    #[test]
    fn the_innermost_mount_says_what_a_fuse_mount_is() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      40 22 0:40 / /home/my\\040home/far rw shared:1 - fuse.sshfs host: rw\n\
                      41 22 0:41 / /home/my\\040home rw - fuse.gocryptfs x rw\n";
        let kind = |path: &str| fuse_kind(mounts, Path::new(path)).unwrap();
        assert_eq!(kind("/home/my home/far/state"), "fuse.sshfs");
        assert_eq!(kind("/home/my home/near"), "fuse.gocryptfs");
        assert_eq!(kind("/srv"), "ext4");
        assert!(is_remote_fuse("fuse.sshfs"));
        assert!(!is_remote_fuse("fuse.gocryptfs"));
    }
}
