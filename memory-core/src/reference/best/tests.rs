use proptest::prelude::*;

use super::*;
use crate::filter::Field;
use crate::id::{RecordId, Seq, SessionId};
use crate::time::Timestamp;

proptest! {
    #[test]
    fn keeps_what_filtering_sorting_and_cutting_would_keep(
        rows in prop::collection::vec((0..5i32, 0..4i64, any::<u128>(), prop::bool::weighted(0.9)), 0..60),
        limit in 0..12usize,
        floor in prop::option::of(0..4i64),
    ) {
        let session = SessionId::new("s").unwrap();
        let items: Vec<(ItemId, Fields)> = rows
            .iter()
            .map(|(_, at, id, _)| {
                (ItemId::Record(RecordId(uuid::Uuid::from_u128(*id))), Fields::of_span(&session, Seq(1), Timestamp(*at)))
            })
            .collect();
        let filter = floor.map_or(Filter::All, |at| Filter::range(Field::At, Some(at.into()), None));
        let known = |place: usize| {
            let (item, fields) = &items[place];
            rows[place].3.then_some((item, fields))
        };
        let kept = best(rows.iter().map(|row| row.0 as f32).zip(0..).collect(), limit, &filter, known);
        let mut expected: Vec<usize> = (0..items.len()).filter(|place| rows[*place].3).collect();
        expected.retain(|place| filter.matches(&items[*place].1));
        expected.sort_by_key(|place| (Reverse(rows[*place].0), Reverse(items[*place].1.at), items[*place].0.clone()));
        expected.truncate(limit);
        prop_assert_eq!(kept, expected);
    }
}
