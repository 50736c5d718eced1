use super::*;
use crate::mapped::Purpose;

/// Denies `id` so often at `now`. The smallest file has records for names that are identifiers alone.
fn deny(records: Records<'_>, id: &[u8], times: u32, now: u64) {
    let record =
        records.get(records.find_or_claim(b"tb:", b"login", NameSource::WholeIdentifier)).unwrap();
    for _ in 0..times {
        record.stripe(0).count(Outcome::Denied);
        records.note_denied(record, 1, &[b"login:", id].concat(), now);
    }
}

fn denied(records: Records<'_>, now: u64) -> Vec<(Vec<u8>, u32)> {
    records.snapshot(now).into_iter().flat_map(|(_, limit)| limit.denied).collect()
}

#[test]
fn denial_counts_for_half_as_much_after_each_half_life() {
    let region = crate::mapped::without_file(Purpose::Statistics).unwrap();
    let records = Records::new(&region);
    let began = 70 * HALF_LIFE;
    deny(records, b"old", 80, began);
    let (old, new) = (b"login:old".to_vec(), b"login:new".to_vec());
    assert_eq!(denied(records, began + HALF_LIFE - 1), [(old.clone(), 80)]);
    assert_eq!(denied(records, began + HALF_LIFE), [(old.clone(), 40)]);
    assert_eq!(denied(records, began + HALF_LIFE), [(old.clone(), 40)]);
    deny(records, b"new", 41, began + 2 * HALF_LIFE);
    assert_eq!(denied(records, began + 2 * HALF_LIFE), [(new.clone(), 41), (old, 20)]);
    assert_eq!(denied(records, began + 6 * HALF_LIFE), [(new, 2), (b"login:old".to_vec(), 1)]);
    assert_eq!(denied(records, u64::MAX), []);
    let (_, limit) = records.snapshot(u64::MAX).pop().unwrap();
    assert_eq!(limit.outcomes[Outcome::Denied as usize], 121, "the calls do not age");
}

#[test]
fn denials_are_all_noted_up_to_a_thousand_a_second_and_others_by_a_sample() {
    let stripe = &Stripe::default();
    let weigh = move |now| stripe.weigh_denial(stripe.count(Outcome::Denied), now);
    let note = |now: u64, denials: u64| (0..denials).map(move |_| weigh(now));
    assert!(note(5, 1_024).all(|weight| weight == 1));
    let sample: Vec<_> = note(5, 256_000).filter(|weight| *weight > 0).collect();
    assert!((900..1_100).contains(&sample.len()), "{}", sample.len());
    assert_eq!(sample.iter().max(), Some(&256));
    for second in 1..4 {
        assert!(note(5 + second * SECOND, 1_000).all(|weight| weight == 1));
    }
    assert_eq!(weigh(u64::MAX), 1, "no time is too late");
}

#[test]
fn limit_that_was_reset_frees_its_record_and_counts_from_zero_in_another() {
    let region = crate::mapped::without_file(Purpose::Statistics).unwrap();
    let records = Records::new(&region);
    let whole = NameSource::WholeIdentifier;
    let shop = records.find_or_claim(b"shop:", b"login", whole);
    records.get(shop).unwrap().stripe(0).count(Outcome::Accepted);
    deny(records, b"x", 3, 0);
    let counter = records.find_or_claim(b"tb:", b"login", whole);
    // The smallest file has few records: these take the rest, and two share one.
    let made_up = |i: usize| records.find_or_claim(b"tb:", format!("{i}").as_bytes(), whole);
    let taken: Vec<_> = (0..records.records.len()).map(made_up).collect();
    let shared = taken[taken.len() - 1];
    assert_eq!(made_up(records.records.len() - 1), shared);
    records.get(shared).unwrap().stripe(0).count(Outcome::Accepted);

    records.reset(|name| name.prefix() == Some(b"tb:"));
    assert!(records.get(counter).is_none() && records.get(shared).is_none());
    assert!(records.get(shop).is_some(), "another prefix");
    let names = || records.snapshot(0).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let of_shop = LimitName::Known(b"shop:".to_vec(), b"login".to_vec());
    assert_eq!(names(), [of_shop.clone(), LimitName::Others]);
    assert_ne!(made_up(records.records.len() - 1), shared, "it has a record of its own now");
    deny(records, b"y", 2, 0);
    assert_eq!(denied(records, 0), [(b"login:y".to_vec(), 2)]);
}

#[test]
fn reset_leaves_the_record_that_another_limit_has_claimed_since() {
    let region = crate::mapped::without_file(Purpose::Statistics).unwrap();
    let records = Records::new(&region);
    let whole = NameSource::WholeIdentifier;
    let old = records.find_or_claim(b"tb:", b"login", whole);
    let new = std::cell::Cell::new(None);
    records.reset(|_| {
        if new.get().is_none() {
            // Another process resets meanwhile, and limits claim what is free.
            new.set(Some(old));
            records.reset(|_| true);
            let all = (0..100).map(|n| records.find_or_claim(b"tb:", &[b'a', n], whole));
            let again = all.into_iter().find(|handle| handle.record == old.record).unwrap();
            records.get(again).unwrap().stripe(0).count(Outcome::Accepted);
            new.set(Some(again));
        }
        true
    });
    let kept = records.get(new.get().unwrap()).expect("the record is the new limit's");
    assert_eq!(kept.outcomes()[Outcome::Accepted as usize], 1);
}
