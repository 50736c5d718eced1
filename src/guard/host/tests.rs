//! What a host notes of its servers, and what its processes see of that.

use super::*;
use crate::guard::breaker::{Access, FailureMeaning};
use crate::guard::store_record::{ServerStatus, list};
use crate::guard::tests::{Folder, host_alone, host_in, host_with_password};
use crate::guard::{forget_server, list_servers};
use crate::limit::SECOND;
use crate::mapped::FileSettings;

fn names(files: &FileSettings) -> Vec<String> {
    let listed = list_servers(files, std::iter::empty());
    listed.into_iter().map(|server| server.name).collect()
}

fn listed(host: &Host) -> Vec<ServerStatus> {
    host.with_region(|region| list(records(region), boot_time())).unwrap()
}

fn note_failure(host: &Host) -> Option<FailureMeaning> {
    host.record(|it| it.note_failure(0, Access::Granted, "no answer", 5, boot_time()))
}

#[test]
fn outage_is_noted_by_the_next_failure_if_the_process_that_began_it_has_died() {
    let host = host_alone();
    let outages = || {
        let listed = listed(&host);
        listed.iter().map(|server| server.outages).sum::<u64>()
    };
    assert_eq!(
        host.record(|it| it.breaker(0).note_failure(Access::Granted, 5, 5)),
        Some(FailureMeaning::OutageBegins)
    );
    assert_eq!(outages(), 0);
    for _ in 0..2 {
        assert_eq!(note_failure(&host), Some(FailureMeaning::OutageContinues));
        assert_eq!(outages(), 1);
    }
}

#[test]
fn failure_of_one_call_alone_is_no_outage() {
    let host = host_alone();
    let later = boot_time() + 3_600 * SECOND;
    host.record(|it| it.breaker(0).note_success(Access::Granted, later));
    assert_eq!(note_failure(&host), Some(FailureMeaning::CallAlone));
    assert_eq!(listed(&host), []);
}

#[test]
fn processes_with_one_password_share_what_they_know_of_a_server() {
    let folder = Folder::new();
    let host = |password| host_with_password(&folder.files(), password);
    for password in ["", "old"] {
        let later = boot_time() + 3_600 * SECOND;
        host(password).record(|it| it.breaker(0).note_failure(Access::Granted, later, later));
        let access = |host: &Host, breaker| {
            host.record(|it| it.breaker(breaker).access(boot_time(), SECOND)).unwrap()
        };
        assert!(matches!(access(&host(password), 0), Access::Denied { .. }));
        assert_eq!(access(&host(password), 1), Access::Granted, "another node");
        assert_eq!(access(&host("new"), 0), Access::Granted);
    }
}

#[test]
fn outage_is_over_once_a_server_has_answered_for_a_second() {
    let host = host_alone();
    host.record(|it| it.note_failure(0, Access::Granted, "no answer", 5, 5));
    host.record(|it| it.breaker(0).note_success(Access::Probe, 3 * SECOND));
    let end_outage = |now| host.record(|it| it.end_outage(now)).unwrap();
    assert_eq!(end_outage(4 * SECOND - 1), None);
    assert_eq!(end_outage(4 * SECOND), Some(3 * SECOND - 5));
    assert_eq!(end_outage(4 * SECOND), None);
}

#[test]
fn forgotten_server_is_listed_again_when_a_process_calls_it() {
    let folder = Folder::new();
    let (files, now) = (folder.files(), boot_time());
    assert_eq!(names(&files), [""; 0], "there is no file");
    assert!(!forget_server(&files, "The server"));
    let host = host_in(&files);
    // Each notes so once a second.
    let calls: [&dyn Fn(u64); 2] = [&|at| host.note_call(at), &|at| {
        _ = host.is_use_due(at) && host.record(|it| it.note_answer(at)).is_some()
    }];
    host.record(|it| it.note_unable("no right", now));
    for call in calls {
        call(now);
        assert_eq!(names(&files), ["The server"]);
        assert!(forget_server(&files, "The server"));
        call(now + SECOND - 1);
        assert_eq!(names(&files), [""; 0]);
        assert!(!forget_server(&files, "The server"));
        call(now + SECOND);
        assert_eq!(names(&files), ["The server"]);
    }
    forget_server(&files, "The server");
    let listed = list_servers(&files, std::iter::once(&*host));
    let reasons: Vec<_> = listed.iter().map(|server| server.last_failure.as_deref()).collect();
    assert_eq!(reasons, [Some("no right")], "a server that a directive names");
}

#[test]
fn memory_of_a_host_is_shared_if_its_folder_is_there() {
    let folder = Folder::new();
    let host = host_in(&folder.files());
    assert!(host.check_memory().is_ok() && host.is_shared());
    let alone = host_alone();
    assert!(alone.check_memory().is_err() && !alone.is_shared());
}
