//! The memory that the control groups of this process leave it, which a container's limit bounds.
//!
//! A file on tmpfs is memory. The kernel kills a process of a group that takes more than its limit, so a file that
//! cannot fit is an error before it is made.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// What one control group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMemory {
    /// The limit, in bytes.
    pub limit: u64,
    /// What is left below it, in bytes: the page cache of files on disk gives way, and so does what the group may swap.
    pub left: u64,
}

/// How a version of control groups names its files.
struct Names {
    limit: &'static str,
    usage: &'static str,
    /// The lines in `memory.stat` of the page cache, and of what is in it as shared memory.
    cache: &'static str,
    shared: &'static str,
    /// How much may be swapped, and is.
    swap_limit: &'static str,
    swap_usage: &'static str,
    /// Whether these two count memory, too.
    swap_counts_memory: bool,
}

const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: "total_cache",
    shared: "total_shmem",
    swap_limit: "memory.memsw.limit_in_bytes",
    swap_usage: "memory.memsw.usage_in_bytes",
    swap_counts_memory: true,
};
const VERSION_2: Names = Names {
    limit: "memory.max",
    usage: "memory.current",
    cache: "file",
    shared: "shmem",
    swap_limit: "memory.swap.max",
    swap_usage: "memory.swap.current",
    swap_counts_memory: false,
};

/// The tightest group of this process, its parents included; none without a limit, or where `/sys` cannot be read.
pub fn tightest() -> Option<GroupMemory> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    tightest_of(&groups, Path::new("/sys/fs/cgroup"), free_swap().unwrap_or(0))
}

/// The tightest of the groups in the text of `/proc/self/cgroup`, below the folder where they are mounted, on a host with so
/// much free swap.
fn tightest_of(groups: &str, mount: &Path, free_swap: u64) -> Option<GroupMemory> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?);
        let (names, base) = match controllers {
            "" => (VERSION_2, mount.to_owned()),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (VERSION_1, mount.join(controllers))
            }
            _ => return None,
        };
        // In a container without a namespace of its own the folder of the group is not there, but its parents are.
        let path = Path::new(group.trim_start_matches('/'));
        path.ancestors()
            .filter_map(|parent| read(&base.join(parent), &names, free_swap))
            .min_by_key(|memory| memory.left)
    };
    groups.lines().filter_map(of_line).min_by_key(|memory| memory.left)
}

/// None for a group without a limit.
fn read(group: &Path, names: &Names, free_swap: u64) -> Option<GroupMemory> {
    let number = |path: PathBuf| read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number(group.join(names.limit))?;
    let usage = number(group.join(names.usage))?;
    let stat = read_to_string(group.join("memory.stat")).ok()?;
    let line = |name: &str| value(&stat, name).unwrap_or(0);
    let reclaimable = line(names.cache).saturating_sub(line(names.shared));
    let kept = usage.saturating_sub(reclaimable);
    let memory = if names.swap_counts_memory { limit.saturating_sub(usage) } else { 0 };
    let swap = match (number(group.join(names.swap_limit)), number(group.join(names.swap_usage))) {
        (Some(limit), Some(usage)) => limit.saturating_sub(usage).saturating_sub(memory),
        _ => u64::MAX,
    };
    let left = limit.saturating_sub(kept).saturating_add(swap.min(free_swap));
    Some(GroupMemory { limit, left })
}

fn free_swap() -> Option<u64> {
    let kibibytes = value(&read_to_string("/proc/meminfo").ok()?, "SwapFree:")?;
    kibibytes.checked_mul(1024)
}

/// The number behind a name at the start of a line.
fn value(text: &str, name: &str) -> Option<u64> {
    let mut words = text.lines().map(str::split_whitespace);
    words.find_map(|mut line| (line.next()? == name).then(|| line.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, remove_dir_all, write};

    /// What the host could swap.
    const FREE_SWAP: u64 = 1_000;

    /// The tightest group of a process, among groups with these files, as the kernel shows them.
    fn found(test: &str, process: &str, groups: &[(&str, &[(&str, &str)])]) -> Option<GroupMemory> {
        let name = format!("token_bucket-cgroup-{test}-{}", std::process::id());
        let mount = std::env::temp_dir().join(name);
        for (group, files) in groups {
            create_dir_all(mount.join(group)).unwrap();
            files
                .iter()
                .for_each(|(name, text)| write(mount.join(group).join(name), text).unwrap());
        }
        let found = tightest_of(process, &mount, FREE_SWAP);
        remove_dir_all(mount).unwrap();
        found
    }

    #[test]
    fn page_cache_of_files_counts_as_left_and_shared_memory_does_not() {
        let stat = "anon 20\nfile 50\nshmem 30\n";
        let files = [
            ("memory.max", "100\n"),
            ("memory.current", "70\n"),
            ("memory.stat", stat),
            ("memory.swap.max", "0\n"),
            ("memory.swap.current", "0\n"),
        ];
        let found = found("cache", "0::/pod/php\n", &[("pod/php", &files)]);
        assert_eq!(found, Some(GroupMemory { limit: 100, left: 50 }));
    }

    #[test]
    fn parent_that_has_less_left_counts() {
        let files = |limit| [("memory.max", limit), ("memory.current", "40"), ("memory.stat", "")];
        let groups: [(&str, &[_]); 2] = [("pod", &files("60\n")), ("pod/php", &files("max\n"))];
        let found = found("parent", "0::/pod/php\n", &groups);
        assert_eq!(found, Some(GroupMemory { limit: 60, left: 20 + FREE_SWAP }));
    }

    #[test]
    fn version_1_is_found_at_the_mount_where_the_group_has_no_folder() {
        let files = [
            ("memory.limit_in_bytes", "100\n"),
            ("memory.usage_in_bytes", "90\n"),
            ("memory.stat", "cache 5\ntotal_cache 30\ntotal_shmem 10\n"),
            ("memory.memsw.limit_in_bytes", "150\n"),
            ("memory.memsw.usage_in_bytes", "95\n"),
        ];
        let process = "5:cpu:/docker/x\n4:memory:/docker/x\n0::/\n";
        let found = found("version1", process, &[("memory", &files)]);
        // Of 50 bytes that may be swapped 5 are.
        assert_eq!(found, Some(GroupMemory { limit: 100, left: 30 + 45 }));
    }

    #[test]
    fn group_has_the_swap_that_it_and_the_host_have() {
        let left = |most: &str, current: &str| {
            let files = [
                ("memory.max", "60\n"),
                ("memory.current", "40\n"),
                ("memory.stat", ""),
                ("memory.swap.max", most),
                ("memory.swap.current", current),
            ];
            found("swap", "0::/php\n", &[("php", &files)]).unwrap().left
        };
        assert_eq!(left("0\n", "0\n"), 20);
        assert_eq!(left("300\n", "100\n"), 20 + 200);
        assert_eq!(left("max\n", "100\n"), 20 + FREE_SWAP);
    }

    #[test]
    fn no_limit_is_none() {
        let files = [("memory.max", "max\n"), ("memory.current", "1\n")];
        assert_eq!(found("none", "0::/\n", &[("", &files)]), None);
        assert_eq!(found("none", "", &[("", &files)]), None);
    }
}
