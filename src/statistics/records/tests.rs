use super::*;
use crate::mapped::Purpose;

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
    let counter = records.find_or_claim(b"tb:", b"login", whole);
    for _ in 0..3 {
        records.get(counter).unwrap().stripe(0).count(Outcome::Denied);
    }
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
    let again = records.find_or_claim(b"tb:", b"login", whole);
    records.get(again).unwrap().stripe(0).count(Outcome::Denied);
    let limits = records.snapshot(0);
    let login = LimitName::Known(b"tb:".to_vec(), b"login".to_vec());
    let (_, counts) = limits.into_iter().find(|(name, _)| *name == login).unwrap();
    assert_eq!(counts.outcomes[Outcome::Denied as usize], 1);
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
