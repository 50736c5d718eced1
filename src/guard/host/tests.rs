//! What a host notes of its servers when processes die.

use super::*;

#[test]
fn outage_is_noted_by_the_next_failure_if_the_process_that_began_it_has_died() {
    let files = FileSettings { path: "/nowhere".into(), size: 0 };
    let files = HostFiles::new(&files);
    let host = Host::new("redis", "Redis".into(), 1, Secret(String::new()), &files);
    let outages = || {
        let listed = host.with_region(servers_in).unwrap();
        listed.iter().map(|server| server.outages).sum::<u64>()
    };
    assert_eq!(
        host.with_breaker(0, |all, id| all.note_failure(id, Access::Granted, 5, 5)),
        Some(FailureMeaning::OutageBegins)
    );
    assert_eq!(outages(), 0);
    for _ in 0..2 {
        assert_eq!(
            host.note_failure(0, Access::Granted, "no answer", 5),
            FailureMeaning::OutageContinues
        );
        assert_eq!(outages(), 1);
    }
}
