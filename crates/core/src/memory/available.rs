//! The memory that the process may still take, by the system's own account.
//!
//! Four accounts exist on Linux: the machine's (`/proc/meminfo`), those of control groups of both versions, which bind a container,
//! and the limits of the process on address space and data (`ulimit -v`, `ulimit -d`). The least of them counts. Files that do not
//! exist, as on other systems, say nothing.

use std::fs::read_to_string;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time for which an answer of the system is taken again: reading its files costs more than a small fit.
const LASTS: Duration = Duration::from_millis(200);

/// Bytes that may still be taken, as the system has told a moment ago.
pub(super) fn recently() -> Option<usize> {
    static TOLD: Mutex<Option<(Instant, Option<usize>)>> = Mutex::new(None);
    // a lock that another thread has, or that was copied by a fork while it was held, is not waited for
    let Ok(mut told) = TOLD.try_lock() else { return available(Path::new("/")) };
    match *told {
        Some((when, bytes)) if when.elapsed() < LASTS => bytes,
        _ => {
            let bytes = available(Path::new("/"));
            *told = Some((Instant::now(), bytes));
            bytes
        }
    }
}

/// Bytes that may still be taken; `None` if nothing is known. The accounts stand below `root`.
pub(super) fn available(root: &Path) -> Option<usize> {
    let bytes = [machine(root), groups(root), limits(root)].into_iter().flatten().min()?;
    Some(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// The memory that the machine could give without swapping.
fn machine(root: &Path) -> Option<u64> {
    kibibytes(&read_to_string(root.join("proc/meminfo")).ok()?, "MemAvailable:")
}

/// The number of bytes on the line `Name:   123 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The memory that the limits of the process leave.
fn limits(root: &Path) -> Option<u64> {
    let limits = read_to_string(root.join("proc/self/limits")).ok()?;
    let status = read_to_string(root.join("proc/self/status")).ok()?;
    let left = |limit: &str, used: &str| -> Option<u64> {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        // the word "unlimited" is no number
        let most: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(most.saturating_sub(kibibytes(&status, used).unwrap_or(0)))
    };
    [left("Max address space", "VmSize:"), left("Max data size", "VmData:")].into_iter().flatten().min()
}

/// The files of a version of control groups.
struct Version {
    limit: &'static str,
    usage: &'static str,
    /// The line of `memory.stat` with the bytes of files that are given up first.
    cache: &'static str,
}

const FIRST: Version =
    Version { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", cache: "total_inactive_file" };
const SECOND: Version = Version { limit: "memory.max", usage: "memory.current", cache: "inactive_file" };

/// The memory that the control groups of the process and all groups above them leave.
fn groups(root: &Path) -> Option<u64> {
    let mounts = root.join("sys/fs/cgroup");
    let mut least: Option<u64> = None;
    for line in read_to_string(root.join("proc/self/cgroup")).ok()?.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let found = if controllers.is_empty() {
            [mounts.clone(), mounts.join("unified")].iter().filter_map(|mount| group(mount, path, &SECOND)).min()
        } else if controllers.split(',').any(|c| c == "memory") {
            group(&mounts.join("memory"), path, &FIRST)
        } else {
            None
        };
        least = least.into_iter().chain(found).min();
    }
    least
}

/// The memory that a group and those above it leave. Inside a container the mount itself may be the group, and its path unknown there.
fn group(mount: &Path, path: &str, version: &Version) -> Option<u64> {
    let below: PathBuf = Path::new(path).components().filter(|c| matches!(c, Component::Normal(_))).collect();
    below.ancestors().filter_map(|part| left(&mount.join(part), version)).min()
}

/// The memory that one group leaves; `None` if it has no limit.
fn left(folder: &Path, version: &Version) -> Option<u64> {
    let number = |name: &str| read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let limit = number(version.limit)?;
    let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cache = stat.lines().find_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        (name == version.cache).then(|| bytes.trim().parse::<u64>().ok())?
    });
    let used = number(version.usage).unwrap_or(0).saturating_sub(cache.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with such files below it.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal: 4000 kB\nMemFree: 9 kB\nMemAvailable:    2000 kB\n");

    #[test]
    fn the_machine_counts_where_nothing_else_is_said() {
        assert_eq!(available(system(&[MACHINE]).path()), Some(2000 * 1024));
        assert_eq!(available(system(&[]).path()), None);
    }

    #[test]
    fn groups_of_the_second_version_and_those_above_them_count() {
        let (own, above) = ("sys/fs/cgroup/a/b/memory.max", "sys/fs/cgroup/a/memory.max");
        let used = [
            MACHINE,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.current", "300000\n"),
            ("sys/fs/cgroup/a/b/memory.stat", "anon 5\ninactive_file 100000\n"),
            ("sys/fs/cgroup/a/memory.current", "400000\n"),
        ];
        let with = |more: &[(&'static str, &'static str)]| available(system(&[&used, more].concat()).path());
        assert_eq!(with(&[(own, "1000000\n"), (above, "max\n")]), Some(800_000));
        assert_eq!(with(&[(own, "max\n"), (above, "1000000\n")]), Some(600_000));
        assert_eq!(with(&[(own, "max\n"), (above, "max\n")]), Some(2000 * 1024));
        assert_eq!(with(&[(own, "100\n")]), Some(0));
    }

    #[test]
    fn groups_of_the_first_version_count_and_a_container_is_its_own_mount() {
        let unlimited = "9223372036854771712\n";
        let group = ("proc/self/cgroup", "8:cpu:/x\n4:memory,hugetlb:/docker/1f\n0::/\n");
        let inside = [
            MACHINE,
            group,
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "500000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "200000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n"),
        ];
        assert_eq!(available(system(&inside).path()), Some(350_000));
        let outside = [
            MACHINE,
            group,
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", unlimited),
            ("sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes", "300000\n"),
        ];
        assert_eq!(available(system(&outside).path()), Some(300_000));
    }

    #[test]
    fn limits_of_the_process_count_less_what_it_has() {
        let status = ("proc/self/status", "Name: x\nVmSize:     100 kB\nVmData:\t 40 kB\n");
        let limits = |space: &str, data: &str| {
            let text = format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max data size             {data}            unlimited            bytes     \n\
                 Max address space         {space}            unlimited            bytes     \n"
            );
            available(system(&[MACHINE, status, ("proc/self/limits", &text)]).path())
        };
        assert_eq!(limits("unlimited", "unlimited"), Some(2000 * 1024));
        assert_eq!(limits("204800", "unlimited"), Some(100 * 1024));
        assert_eq!(limits("204800", "61440"), Some(20 * 1024));
        assert_eq!(limits("10", "unlimited"), Some(0));
    }
}
