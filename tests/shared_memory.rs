//! The file of a shared-memory table: which files are used, replaced or refused; what a flood of keys does; and
//! blocks and calls on several limits from many threads.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::cell::Cell;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};
use support::Folder;
use token_bucket::clock::{at, boot_time};
use token_bucket::dsn::Dsn;
use token_bucket::limit::{FixedWindow, Limit, Op, SECOND, TokenBucket};
use token_bucket::limiter::{Limiter, Limiters, Member, RecordHandle, admits_all, take_all};
use token_bucket::mapped::{self, Location, MIN_SIZE, Purpose};
use token_bucket::net::Timeouts;
use token_bucket::settings::Settings;
use token_bucket::statistics::FILE_SIZE;
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::{Key, KeyHash, LimitKind, Request, Store};

const T0: u64 = 1_000_000 * SECOND;

/// Tables in a folder.
trait Tables {
    fn location(&self) -> Location;

    fn store(&self) -> SharedMemory {
        SharedMemory::new(self.location())
    }
}

impl Tables for Folder {
    fn location(&self) -> Location {
        Location {
            base: self.0.clone(),
            name: "default".into(),
            size: MIN_SIZE,
            purpose: Purpose::Buckets,
        }
    }
}

/// Makes a table with one empty bucket, `x`, and returns its folder and its path.
fn folder_with_table(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(name);
    assert!(take(&folder.store(), b"x"));
    assert!(!take(&folder.store(), b"x"), "a second opening sees the same bucket");
    let path = folder.location().path();
    (folder, path)
}

fn limit() -> Limit {
    TokenBucket::per_second(1, 0.001).unwrap().into()
}

fn call(
    store: &SharedMemory,
    name: &[u8],
    limit: &Limit,
    now: Option<u64>,
) -> Result<bool, String> {
    admitted(store, name, limit, Op::Take { cost: 1 }, now)
}

fn operate(store: &SharedMemory, name: &[u8], limit: &Limit, op: Op, now: u64) -> bool {
    admitted(store, name, limit, op, Some(now)).unwrap()
}

fn admitted(
    store: &SharedMemory,
    name: &[u8],
    limit: &Limit,
    op: Op,
    now: Option<u64>,
) -> Result<bool, String> {
    admitted_under(store, b"tb:", name, limit, op, now)
}

fn admitted_under(
    store: &SharedMemory,
    prefix: &[u8],
    name: &[u8],
    limit: &Limit,
    op: Op,
    now: Option<u64>,
) -> Result<bool, String> {
    let key_hash = Cell::new(KeyHash::default());
    let key =
        Key { parts: [prefix, name, b"", b""], key_hash: &key_hash, kind: LimitKind::from(limit) };
    let timeouts = &Timeouts::default();
    let request = Request { key: &key, limit, op: &op, now: boot_time(), timeouts };
    let answer = at(now, || store.accepts(&request));
    answer.map(|answer| answer.decision).map_err(|error| error.to_string())
}

fn take(store: &SharedMemory, name: &[u8]) -> bool {
    call(store, name, &limit(), Some(T0)).unwrap()
}

fn refusal(store: &SharedMemory) -> String {
    call(store, b"x", &limit(), Some(T0)).unwrap_err()
}

#[test]
fn file_is_private_and_has_its_space_allocated() {
    let (folder, path) = folder_with_table("private");
    let file = fs::metadata(&path).unwrap();
    assert_eq!((file.mode() & 0o777, file.len()), (0o600, MIN_SIZE));
    assert!(file.blocks() * 512 >= MIN_SIZE, "space must be allocated");
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    assert!(path.ends_with(format!("token_bucket-{}/default.v13", file.uid())));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    drop(folder);
}

#[test]
fn file_that_is_cut_short_is_replaced() {
    for length in [0, 1, 4095, 4096, MIN_SIZE - 1, MIN_SIZE + 1] {
        let (folder, path) = folder_with_table(&format!("short-{length}"));
        let found = File::options().write(true).open(&path).unwrap();
        found.set_len(length).unwrap();
        assert!(take(&folder.store(), b"x"), "a fresh table at length {length}");
        assert_eq!(
            found.metadata().unwrap().len(),
            length,
            "the file that was found is not written to"
        );
        assert_eq!(fs::metadata(&path).unwrap().len(), MIN_SIZE);
    }
}

#[test]
fn file_of_garbage_is_replaced() {
    let (folder, path) = folder_with_table("garbage");
    for garbage in [[0u8; 64], [0xff; 64], [b'T'; 64]] {
        let mut bytes = fs::read(&path).unwrap();
        bytes[..64].copy_from_slice(&garbage);
        fs::write(&path, &bytes).unwrap();
        assert!(take(&folder.store(), b"x"), "a fresh table");
        assert!(!take(&folder.store(), b"x"));
    }
}

#[test]
fn garbage_in_the_slots_denies_for_at_most_one_refill() {
    let (folder, path) = folder_with_table("slots");
    let mut bytes = fs::read(&path).unwrap();
    let mut seed = 88172645463325252u64;
    for byte in &mut bytes[4096..] {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        *byte = seed as u8;
    }
    fs::write(&path, &bytes).unwrap();
    let store = folder.store();
    let limit = TokenBucket::per_second(1, 1.0).unwrap().into();
    for i in 0..20_000u64 {
        // Whatever the garbage means, no bucket denies for longer than one refill.
        let (name, now) = (i.to_string(), T0 + i * 10 * SECOND);
        let first = call(&store, name.as_bytes(), &limit, Some(now)).unwrap();
        let later = call(&store, name.as_bytes(), &limit, Some(now + 2 * SECOND)).unwrap();
        assert!(first || later, "{name}");
    }
}

/// Gives the table another boot id.
fn change_boot_id(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap();
    assert!(bytes[BOOT_AT].starts_with(&boot), "the boot id is there");
    bytes[BOOT_AT.start] ^= 1;
    fs::write(path, &bytes).unwrap();
}

#[test]
fn table_in_memory_is_used_whatever_its_boot_id() {
    for purpose in [Purpose::Buckets, Purpose::Host, Purpose::Statistics, Purpose::Leases] {
        let (size, folder) = (2 << 20, Folder::new(&format!("id-{purpose:?}")));
        let location = Location { size, purpose, ..folder.location() };
        let first = mapped::open(&location).unwrap();
        change_boot_id(&location.path());
        mapped::open(&location).unwrap();
        assert!(!first.is_stale(), "{purpose:?}: it was replaced");
    }
}

#[test]
fn table_on_a_disk_with_another_boot_id_is_replaced_if_it_is_older_than_this_boot_else_refused() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = Folder(target.join(format!("boot-{}", std::process::id())));
    fs::create_dir_all(&folder.0).unwrap();
    if rustix::fs::statfs(&folder.0).unwrap().f_type == 0x0102_1994 {
        return; // The sources lie in memory.
    }
    assert!(take(&folder.store(), b"x"));
    let path = folder.location().path();
    change_boot_id(&path);
    let message = refusal(&folder.store());
    assert!(message.contains("another boot id") && message.contains("shm_path"), "{message}");
    let since_boot = Duration::from_nanos(token_bucket::clock::boot_time());
    let before = SystemTime::now() - since_boot - Duration::from_secs(60);
    File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    assert!(take(&folder.store(), b"x"), "a new table");
}

/// Where a header has the boot id, and the time of the last use.
const BOOT_AT: std::ops::Range<usize> = 24..64;
const USED_AT: std::ops::Range<usize> = 80..88;

/// A table that a process without a boot id made, last used `ahead` nanoseconds from now.
fn table_without_a_boot_id(name: &str, ahead: i64) -> Folder {
    let (folder, path) = folder_with_table(name);
    let mut bytes = fs::read(&path).unwrap();
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap();
    assert!(bytes[BOOT_AT].starts_with(&boot), "the boot id is there");
    bytes[BOOT_AT].fill(0);
    let used_at = u64::from_ne_bytes(bytes[USED_AT].try_into().unwrap());
    let now = token_bucket::clock::boot_time();
    assert!(now - used_at < 60 * SECOND, "the time of the last use is there");
    bytes[USED_AT].copy_from_slice(&now.saturating_add_signed(ahead).to_ne_bytes());
    fs::write(&path, &bytes).unwrap();
    folder
}

#[test]
fn table_without_a_boot_id_is_used_as_it_is() {
    let folder = table_without_a_boot_id("no-id", -1_000);
    assert!(!take(&folder.store(), b"x"), "the empty bucket is still there");
}

#[test]
fn table_without_a_boot_id_that_was_used_in_the_future_is_replaced() {
    let folder = table_without_a_boot_id("no-id-future", 3_600 * SECOND as i64);
    assert!(take(&folder.store(), b"x"), "it is of an earlier boot");
}

#[test]
fn window_and_bucket_never_meet_whatever_the_identifier() {
    let folder = Folder::new("window-and-bucket");
    let store = folder.store();
    let (bucket, window) = (limit(), FixedWindow::new(4, 900.0).unwrap().into());
    let take = |name: &[u8], limit| {
        admitted_under(&store, b"", name, limit, Op::Take { cost: 1 }, Some(T0)).unwrap()
    };
    // Each way in which the bytes of an identifier could imitate a domain and a kind, at either end.
    for (zeros, kind) in (0..=17u8).flat_map(|zeros| [0u8, 1].map(|kind| (zeros, kind))) {
        let plain = [b"client", &[zeros, kind][..]].concat();
        let number = [0u8; 17][..zeros.into()].to_vec();
        let names = [
            plain.clone(),
            [&number[..], &[kind], &plain].concat(),
            [&[kind][..], &number, &plain].concat(),
            [&plain[..], &number, &[kind]].concat(),
            [&plain[..], &[kind], &number].concat(),
        ];
        assert!(take(&plain, &window));
        for name in &names {
            // Some names occur twice: their bucket may be empty already.
            take(name, &bucket);
            assert!(!take(name, &bucket));
        }
        assert!(take(&plain, &window), "the window of {plain:?} is one of these buckets");
    }
}

#[test]
fn file_that_left_its_path_is_stale() {
    for (n, purpose) in
        [Purpose::Buckets, Purpose::Host, Purpose::Statistics].into_iter().enumerate()
    {
        let opened = |name: &str| {
            let folder = Folder::new(&format!("stale-{n}-{name}"));
            let size = if purpose == Purpose::Statistics { FILE_SIZE } else { MIN_SIZE };
            let location = Location { size, purpose, ..folder.location() };
            let region = mapped::open(&location).unwrap();
            assert!(!region.is_stale());
            (folder, location.path(), region, location)
        };
        let elsewhere = |folder: &Folder| folder.0.join("elsewhere");

        let (folder, path, region, location) = opened("moved");
        fs::rename(&path, elsewhere(&folder)).unwrap();
        assert!(region.is_stale(), "moved");
        let fresh = mapped::open(&location).unwrap();
        assert!(region.is_stale() && !fresh.is_stale(), "moved, and another one made");
        fs::rename(elsewhere(&folder), &path).unwrap();
        assert!(!region.is_stale() && fresh.is_stale(), "moved back");

        let (folder, path, region, _) = opened("linked");
        fs::hard_link(&path, elsewhere(&folder)).unwrap();
        assert!(!region.is_stale(), "a second name changes nothing");
        fs::remove_file(&path).unwrap();
        assert!(region.is_stale(), "only its second name is left");

        let (folder, path, region, _) = opened("directory");
        fs::rename(path.parent().unwrap(), elsewhere(&folder)).unwrap();
        assert!(region.is_stale(), "its directory was moved");
    }
}

#[test]
fn size_that_differs_from_the_directive_is_reported() {
    let (folder, path) = folder_with_table("size");
    let row = |size| {
        let store = SharedMemory::new(Location { size, ..folder.location() });
        assert!(!take(&store, b"x"), "the file is used as it is");
        let rows = store.describe();
        rows.into_iter().find(|(name, _)| *name == "Size set by token_bucket.shm_size")
    };
    assert_eq!(row(MIN_SIZE), None);
    let (_, message) = row(MIN_SIZE * 2).unwrap();
    assert_eq!(message, "131072 (the file keeps its size; remove it to have this one)");
    assert_eq!(fs::metadata(&path).unwrap().len(), MIN_SIZE);
}

#[test]
fn symbolic_links_are_not_followed() {
    let (folder, path) = folder_with_table("link");
    let elsewhere = folder.0.join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert!(refusal(&folder.store()).contains("default.v13 is a symbolic link; remove it"));

    let folder = Folder::new("link-directory");
    let path = folder.location().path();
    fs::create_dir(folder.0.join("elsewhere")).unwrap();
    symlink(folder.0.join("elsewhere"), path.parent().unwrap()).unwrap();
    assert!(refusal(&folder.store()).contains("is not a directory; remove it"));
}

#[test]
fn file_or_directory_open_to_other_users_is_refused() {
    let (folder, path) = folder_with_table("open");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert!(refusal(&folder.store()).contains("default.v13 is open to other users"));
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let directory = path.parent().unwrap();
    fs::set_permissions(directory, Permissions::from_mode(0o750)).unwrap();
    assert!(refusal(&folder.store()).contains("its mode must be 0700"));
}

#[test]
fn folder_in_which_others_can_replace_the_directory_is_refused() {
    let folder = Folder::new("base");
    let refused = |mode| {
        fs::set_permissions(&folder.0, Permissions::from_mode(mode)).unwrap();
        let message = call(&folder.store(), b"x", &limit(), Some(T0)).err();
        message.inspect(|text| assert!(text.contains("other users may write"), "{text}")).is_some()
    };
    for (mode, expected) in [
        (0o777, true),
        (0o775, true),
        (0o702, true),
        (0o1777, false),
        (0o1770, false),
        (0o755, false),
    ] {
        assert_eq!(refused(mode), expected, "{mode:o}");
    }
    if chown(&folder.0, Some(65_534), None).is_ok() {
        assert!(refusal(&folder.store()).contains("belongs to user 65534"));
    }
}

#[test]
fn folder_to_which_others_can_lead_elsewhere_is_refused() {
    let folder = Folder::new("way");
    let path = |name: &str| folder.0.join(name);
    let store = |name: &str| SharedMemory::new(Location { base: path(name), ..folder.location() });
    let mode = |mode| fs::set_permissions(path("theirs"), Permissions::from_mode(mode)).unwrap();
    fs::create_dir_all(path("theirs/own")).unwrap();
    for (link, target) in [("link", "theirs/own"), ("second", "link"), ("circle", "circle")] {
        symlink(target, path(link)).unwrap();
    }
    assert!(take(&store("theirs/own"), b"x") && take(&store("second"), b"y"));
    assert!(refusal(&store("circle")).contains("Too many levels of symbolic links"));
    mode(0o777);
    for name in ["theirs/own", "second"] {
        let message = refusal(&store(name));
        assert!(message.contains("may write to") && message.contains("way/theirs;"), "{message}");
    }
    mode(0o755);
    if lchown(path("link"), Some(65_534), None).is_ok() {
        assert!(refusal(&store("second")).contains("way/link belongs to user 65534"));
        chown(path("theirs"), Some(65_534), None).unwrap();
        assert!(refusal(&store("theirs/own")).contains("way/theirs belongs to user 65534"));
    }
}

#[test]
fn table_beyond_the_64th_of_a_folder_is_refused_and_those_that_are_there_are_used() {
    let folder = Folder::new("many");
    let table = |nth: usize| {
        SharedMemory::new(Location { name: format!("table-{nth}"), ..folder.location() })
    };
    for nth in 0..64 {
        assert!(take(&table(nth), b"x"));
    }
    let message = refusal(&table(64));
    assert!(message.contains("table-64.v13 cannot be made") && message.contains("64 tables"));
    assert!(!take(&table(63), b"x"), "the bucket that was emptied");
    fs::write(Location { name: "table-7".into(), ..folder.location() }.path(), "garbage").unwrap();
    assert!(take(&table(7), b"x"), "one that is damaged is replaced");
    let host = Location { name: ".host".into(), purpose: Purpose::Host, ..folder.location() };
    assert!(mapped::open(&host).is_ok(), "files that no DSN names are made");
    fs::remove_file(Location { name: "table-9".into(), ..folder.location() }.path()).unwrap();
    assert!(take(&table(64), b"x"));
}

#[test]
fn directory_in_place_of_the_file_is_refused() {
    let (folder, path) = folder_with_table("folder");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(refusal(&folder.store()).contains("default.v13"));
}

#[test]
fn error_names_a_path_that_is_missing_or_not_writable() {
    let missing = Location {
        base: "/nonexistent/x".into(),
        name: "default".into(),
        size: MIN_SIZE,
        purpose: Purpose::Buckets,
    };
    let message = refusal(&SharedMemory::new(missing));
    assert!(message.contains("/nonexistent/x") && message.contains("token_bucket.shm_path"));
    // A directory in which not even root may write.
    let proc = Location {
        base: "/proc".into(),
        name: "default".into(),
        size: MIN_SIZE,
        purpose: Purpose::Buckets,
    };
    assert!(
        refusal(&SharedMemory::new(proc)).contains("Cannot make shared memory /proc/token_bucket-")
    );
}

#[test]
fn removed_table_is_left_within_a_second() {
    let (folder, path) = folder_with_table("removed");
    let (old, key_hash) = (folder.store(), Cell::new(KeyHash::default()));
    let key =
        Key { parts: [b"tb:", b"x", b"", b""], key_hash: &key_hash, kind: LimitKind::TokenBucket };
    let (limit, timeouts) = (limit(), Timeouts::default());
    let take_old = |frozen: Option<u64>| {
        let op = Op::Take { cost: 1 };
        let (key, limit, op, timeouts) = (&key, &limit, &op, &timeouts);
        let request = Request { key, limit, op, now: boot_time(), timeouts };
        at(frozen, || old.accepts(&request)).unwrap().decision
    };
    assert!(!take_old(Some(T0)));
    fs::remove_file(&path).unwrap();
    assert!(take(&folder.store(), b"x"), "a new store makes a new table");
    // A real second: the check of the file goes by the system's clock.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert!(!take_old(Some(T0)), "the old store uses the new table");
}

#[test]
fn flood_of_new_keys_frees_no_denied_client() {
    let limit = |capacity, rate| Limit::from(TokenBucket::per_second(capacity, rate).unwrap());
    let window = |hits, interval| Limit::from(FixedWindow::new(hits, interval).unwrap());
    let slow = limit(5, 0.001);
    let same = [slow];
    let mixed = [slow, limit(10, 1.0), limit(1, 0.001), limit(2, 0.000_5)];
    let longer = [limit(100, 0.000_5)];
    let windows = [window(5, 900.0), window(1, 60.0), limit(10, 1.0), slow];
    for (name, slow, limits) in [
        ("same", slow, &same[..]),
        ("mixed", slow, &mixed),
        ("longer", slow, &longer),
        ("windows, buckets", slow, &windows),
        ("windows", windows[0], &windows),
    ] {
        let folder = Folder::new(name);
        let location = Location { size: 8 << 20, ..folder.location() };
        let store = SharedMemory::new(location.clone());
        let victims: Vec<String> = (0..200).map(|i| format!("victim-{i}")).collect();
        for victim in &victims {
            for _ in 0..5 {
                assert!(call(&store, victim.as_bytes(), &slow, Some(T0)).unwrap());
            }
        }
        for i in 0..2_000_000u64 {
            let limit = &limits[i as usize % limits.len()];
            call(&store, format!("flood-{i}").as_bytes(), limit, Some(T0 + i * 1_000)).unwrap();
        }
        assert_eq!(fs::metadata(location.path()).unwrap().len(), 8 << 20, "memory is fixed");
        let lacked_room =
            store.describe().into_iter().find(|(name, _)| *name == "Evicted while in use");
        assert!(lacked_room.unwrap().1.parse::<u64>().unwrap() > 100_000, "evictions are counted");
        let now = Some(T0 + 3 * SECOND);
        let freed =
            victims.iter().filter(|victim| call(&store, victim.as_bytes(), &slow, now).unwrap());
        assert_eq!(freed.count(), 0, "limits: {name}; no client is accepted early");
    }
}

#[test]
fn newcomer_among_longer_limits_waits_for_one_token() {
    let folder = Folder::new("newcomer");
    let store = folder.store();
    let (day, login) = (
        Limit::from(TokenBucket::per_period(100, 86_400.0).unwrap()),
        Limit::from(TokenBucket::per_period(10, 60.0).unwrap()),
    );
    // Many times as many keys as this table holds.
    for i in 0..50_000 {
        call(&store, format!("day-{i}").as_bytes(), &day, Some(T0)).unwrap();
    }
    for i in 0..100 {
        let name = format!("login-{i}");
        assert!(!call(&store, name.as_bytes(), &login, Some(T0)).unwrap());
        assert!(call(&store, name.as_bytes(), &login, Some(T0 + 6 * SECOND)).unwrap());
    }
}

#[test]
fn flood_of_new_keys_does_not_end_the_debt_of_a_checked_client() {
    let folder = Folder::new("debtors");
    let store = folder.store();
    let limit = Limit::from(TokenBucket::per_period(10, 300.0).unwrap());
    let debtors: Vec<String> = (0..100).map(|i| format!("debtor-{i}")).collect();
    for debtor in &debtors {
        for _ in 0..60 {
            operate(&store, debtor.as_bytes(), &limit, Op::Check, T0);
        }
    }
    // Many times as many keys as this table holds, over 100 seconds.
    for i in 0..100_000u64 {
        call(&store, format!("flood-{i}").as_bytes(), &limit, Some(T0 + i * SECOND / 1_000))
            .unwrap();
    }
    // A token comes back in 30 seconds, but a checked client must be silent for all 300.
    let freed = debtors
        .iter()
        .filter(|debtor| operate(&store, debtor.as_bytes(), &limit, Op::Check, T0 + 135 * SECOND));
    assert_eq!(freed.count(), 0);
}

#[test]
fn flood_of_keys_of_shorter_limits_frees_no_denied_client() {
    let (long, in_all, most) =
        (Limit::from(TokenBucket::per_period(10, 300.0).unwrap()), 100u64, 10);
    let shorter = [
        Limit::from(TokenBucket::per_second(10, 1.0).unwrap()),
        Limit::from(TokenBucket::per_second(1, 1_000.0).unwrap()),
        Limit::from(FixedWindow::new(1, 60.0).unwrap()),
    ];
    for (n, short) in shorter.iter().enumerate() {
        let folder = Folder::new(&format!("shorter-{n}"));
        let store = folder.store();
        let victims: Vec<String> = (0..in_all).map(|i| format!("victim-{i}")).collect();
        for victim in &victims {
            for _ in 0..most {
                assert!(call(&store, victim.as_bytes(), &long, Some(T0)).unwrap());
            }
        }
        // Keys of the same limit evict the victims; then keys of a shorter limit evict those.
        for i in 0..60_000 {
            let now = Some(T0 + i * SECOND / 2_000);
            call(&store, format!("long-{i}").as_bytes(), &long, now).unwrap();
        }
        for i in 0..10_000 {
            call(&store, format!("short-{i}").as_bytes(), short, Some(T0 + 30 * SECOND)).unwrap();
        }
        let now = Some(T0 + 30 * SECOND + SECOND / 2);
        let accepted = victims.iter().map(|victim| {
            (0..most).filter(|_| call(&store, victim.as_bytes(), &long, now).unwrap()).count()
        });
        assert!(
            accepted.clone().max() <= Some(1),
            "a token every 30 seconds: {}",
            accepted.sum::<usize>()
        );
    }
}

#[test]
fn block_denies_every_call_that_begins_after_it() {
    const THREADS: usize = 4;
    const BLOCKS: usize = 200;
    let folder = Folder::new("block");
    // More tokens than the threads can take.
    let limit = Limit::from(TokenBucket::per_second(1_000_000_000, 1_000_000.0).unwrap());
    let operate = |store: &SharedMemory, op| admitted(store, b"x", &limit, op, None).unwrap();
    // Odd while the block is in force: from its return to the beginning of the reset.
    let phase = AtomicUsize::new(0);
    let take = || {
        let (store, mut taken, mut taken_late) = (folder.store(), 0, 0);
        loop {
            let before = phase.load(Ordering::SeqCst);
            let is_accepted = operate(&store, Op::Take { cost: 1 });
            let is_blocked = before % 2 == 1 && phase.load(Ordering::SeqCst) == before;
            taken += usize::from(is_accepted);
            taken_late += usize::from(is_accepted && is_blocked);
            if before >= 2 * BLOCKS {
                return (taken, taken_late);
            }
        }
    };
    let counts: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS).map(|_| scope.spawn(take)).collect();
        let store = folder.store();
        for _ in 0..BLOCKS {
            assert!(operate(&store, Op::Block { duration: 3_600 * SECOND }));
            phase.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            phase.fetch_add(1, Ordering::SeqCst);
            operate(&store, Op::Reset);
        }
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(counts.iter().any(|(taken, _)| *taken > 0), "some calls raced the blocks");
    assert_eq!(counts.iter().map(|(_, taken_late)| taken_late).sum::<usize>(), 0);
}

/// A limit that threads share, and what admitted calls took from it.
struct Shared {
    identifier: String,
    limit: Limit,
    charged: AtomicU64,
}

/// A year: nothing comes back while a test runs.
const YEAR: i64 = 31_557_600;

fn shared_limits(round: usize) -> [Shared; 3] {
    let bucket = |capacity| Limit::from(TokenBucket::per_period(capacity, YEAR as f64).unwrap());
    let window = Limit::from(FixedWindow::new(20, YEAR as f64).unwrap());
    [("user", bucket(24)), ("address", bucket(16)), ("all", window)].map(|(name, limit)| Shared {
        identifier: format!("{name}:{round}"),
        limit,
        charged: AtomicU64::new(0),
    })
}

/// Takes from all these limits, and notes what that charged if it was admitted. `with_decision`: by the
/// call that returns the decisions.
fn take_from_all(
    limiter: &Limiter,
    shared: &[&Shared],
    costs: &[u64],
    with_decision: bool,
) -> bool {
    let caches: Vec<(Cell<KeyHash>, Cell<RecordHandle>)> =
        shared.iter().map(|_| Default::default()).collect();
    let with_caches = shared.iter().zip(costs).zip(&caches);
    let members: Vec<Member<'_>> = with_caches
        .map(|((shared, cost), (key_hash, record))| Member {
            limiter,
            identifier: shared.identifier.as_bytes(),
            name: None,
            key_hash,
            record,
            limit: &shared.limit,
            cost: *cost,
            leave: 0,
            is_exempt: false,
        })
        .collect();
    let is_admitted = match with_decision {
        true => {
            let answers = take_all(&members).answer.unwrap();
            answers
                .iter()
                .all(|answer| answer.is_some_and(|flagged| flagged.decision.is_accepted()))
        }
        false => admits_all(&members).answer.unwrap(),
    };
    if is_admitted {
        for (limit, cost) in shared.iter().zip(costs) {
            limit.charged.fetch_add(*cost, Ordering::Relaxed);
        }
    }
    is_admitted
}

#[test]
fn threads_that_take_from_overlapping_limits_charge_all_of_them_or_none() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 1_000;
    let folder = Folder::new("compound");
    let settings = Settings {
        warn_of_mistakes: false,
        shm_path: folder.0.clone(),
        shm_size: MIN_SIZE * 32,
        ..Settings::default()
    };
    let limiter = || Limiters::default().unshared(&Dsn::parse("shm:").unwrap(), &settings);
    let rounds: Vec<[Shared; 3]> = (0..ROUNDS).map(shared_limits).collect();
    let barrier = Barrier::new(THREADS);
    let ask = |thread: usize| {
        let limiter = limiter();
        for (round, [user, address, all]) in rounds.iter().enumerate() {
            // Overlapping, and in both orders: each limit is charged first in some calls and last in
            // others.
            let orders = [
                &[user, address][..],
                &[address, user],
                &[all, address, user],
                &[user, all, address],
            ];
            barrier.wait();
            for i in 0..8 {
                let costs = [1 + (i % 2) as u64, 1, 1];
                let with_decision = (thread + round).is_multiple_of(2);
                take_from_all(&limiter, orders[(thread + i) % 4], &costs, with_decision);
            }
        }
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let ask = &ask;
            scope.spawn(move || ask(thread));
        }
    });
    let limiter = limiter();
    for Shared { identifier, limit, charged } in rounds.iter().flatten() {
        let (charged, capacity) = (charged.load(Ordering::Relaxed), limit.capacity());
        assert!(charged <= capacity, "{identifier}: {charged} of {capacity}");
        let rest = Shared { identifier: identifier.clone(), limit: *limit, charged: 0.into() };
        while take_from_all(&limiter, &[&rest], &[1], false) {}
        // What denied calls were charged would be missing.
        let left = rest.charged.into_inner();
        assert_eq!(charged + left, capacity, "{identifier}: {charged} charged, {left} left");
    }
    let spent = |[_, address, _]: &&[Shared; 3]| address.charged.load(Ordering::Relaxed) >= 15;
    assert!(rounds.iter().filter(spent).count() > ROUNDS / 2, "the limits are reached");
}
