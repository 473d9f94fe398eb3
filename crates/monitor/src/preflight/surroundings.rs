//! What is around this process: a container, the loopback interface of its network namespace, the
//! programs that a comparison would want.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// What this process runs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Container {
    /// The kind of container by the marks it leaves; `None` when there are none.
    pub kind: Option<String>,
    /// Whether the root file system is an overlay, as in most containers; `None` when unknown.
    pub overlay_root: Option<bool>,
}

/// The loopback interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Loopback {
    /// Whether the interface is up.
    pub up: bool,
    /// The largest packet it carries, bytes.
    pub mtu_bytes: Option<u32>,
}

impl Container {
    pub(super) fn around_this_process() -> Self {
        let exists = |path: &str| Path::new(path).exists();
        let group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok();
        let kind = match () {
            () if exists("/.dockerenv") => Some("docker"),
            () if exists("/run/.containerenv") => Some("podman"),
            () => kind_by_group(&group),
        };
        Self {
            kind: kind.map(str::to_owned),
            overlay_root: mounts.and_then(|mounts| root_is_overlay(&mounts)),
        }
    }
}

/// The runtimes name the groups they make after themselves.
fn kind_by_group(group: &str) -> Option<&'static str> {
    let marks = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("containerd", "containerd"),
        ("/lxc", "lxc"),
    ];
    // `docker.service` is the daemon's own group on a host, and no container.
    let paths = group.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let paths: Vec<&str> = paths.filter(|path| !path.ends_with(".service")).collect();
    marks
        .iter()
        .find(|(mark, _)| paths.iter().any(|path| path.contains(mark)))
        .map(|(_, kind)| *kind)
}

/// proc_pid_mountinfo(5): the mount point is the fifth field, the type the first behind ` - `.
fn root_is_overlay(mounts: &str) -> Option<bool> {
    let root = mounts.lines().rfind(|line| line.split(' ').nth(4) == Some("/"))?;
    let kind = root.split_once(" - ")?.1.split(' ').next()?;
    Some(kind == "overlay" || kind == "fuse-overlayfs")
}

impl Loopback {
    /// Asked of a socket: /sys shows the namespace in which it was mounted.
    pub(super) fn of_this_namespace() -> Option<Self> {
        // No packet is sent; a socket of any kind will do (netdevice(7)).
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        let flags = asked(&socket, libc::SIOCGIFFLAGS)?;
        // SAFETY: the kernel has answered SIOCGIFFLAGS with this member.
        let flags = i32::from(unsafe { flags.ifr_ifru.ifru_flags });
        let mtu = asked(&socket, libc::SIOCGIFMTU).map(|response| {
            // SAFETY: the kernel has answered SIOCGIFMTU with this member.
            unsafe { response.ifr_ifru.ifru_mtu }
        });
        Some(Self {
            up: flags & libc::IFF_UP != 0,
            mtu_bytes: mtu.and_then(|bytes| u32::try_from(bytes).ok()),
        })
    }
}

fn asked(socket: &UdpSocket, question: libc::c_ulong) -> Option<libc::ifreq> {
    // SAFETY: all-zero bytes are a valid ifreq: a name, and a union of plain data.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, letter) in request.ifr_name.iter_mut().zip(*b"lo") {
        *place = letter as libc::c_char;
    }
    // SAFETY: the descriptor is open, and both questions read and write one ifreq, which lives.
    let response = unsafe { libc::ioctl(socket.as_raw_fd(), question as _, &raw mut request) };
    (response == 0).then_some(request)
}

/// Where each of these programs is: on the search path, or where servers and tools of the
/// administrator are kept, which the search paths of users often leave out.
pub(super) fn programs(names: &[&str]) -> BTreeMap<String, Option<String>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from))
        .filter(|directory| directory.is_absolute())
        .collect();
    let find = |name: &str| {
        let found = directories
            .iter()
            .map(|directory| directory.join(name))
            .find(|path| is_program(path))?;
        Some(found.to_string_lossy().into_owned())
    };
    names.iter().map(|name| ((*name).to_owned(), find(name))).collect()
}

fn is_program(path: &Path) -> bool {
    // A link named `ab` that leads to ablaze is no ab to compare with.
    let leads_here =
        fs::canonicalize(path).is_ok_and(|target| target.file_name() == Some(OsStr::new("ablaze")));
    let is_file = fs::metadata(path)
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    is_file && !leads_here
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_known_by_their_groups_and_daemons_are_none() {
        let kind = |group| kind_by_group(group);
        assert_eq!(kind("0::/system.slice/docker-3f1c.scope\n"), Some("docker"));
        assert_eq!(kind("4:cpu:/kubepods/burstable/pod1/2\n"), Some("kubernetes"));
        assert_eq!(kind("0::/machine.slice/libpod-77.scope\n"), Some("podman"));
        assert_eq!(kind("0::/system.slice/docker.service\n"), None);
        assert_eq!(kind("0::/user.slice/session-1.scope\n"), None);
        assert_eq!(kind(""), None);
    }

    #[test]
    fn the_last_mount_at_the_root_counts() {
        let disk = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n";
        let overlay = "90 22 0:30 / / rw,relatime - overlay overlay rw,lowerdir=/l\n";
        let elsewhere = "91 90 0:31 / /data rw - overlay overlay rw\n";
        assert_eq!(root_is_overlay(disk), Some(false));
        assert_eq!(root_is_overlay(&format!("{disk}{overlay}{elsewhere}")), Some(true));
        assert_eq!(root_is_overlay(&format!("{disk}{elsewhere}")), Some(false));
        assert_eq!(root_is_overlay(""), None);
        assert_eq!(root_is_overlay("broken / / / / /\n"), None);
    }

    #[test]
    fn the_loopback_interface_answers() {
        let loopback = Loopback::of_this_namespace().unwrap();
        assert!(loopback.up, "the tests of ablaze use it");
        assert!(loopback.mtu_bytes.unwrap() >= 1500);
    }
}
