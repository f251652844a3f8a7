use proptest::prelude::*;

use super::*;
use crate::filter::Field;
use crate::id::{RecordId, Seq, SessionId};
use crate::time::Timestamp;

proptest! {
    #[test]
    fn keeps_what_filtering_sorting_and_cutting_would_keep(
        rows in prop::collection::vec((0..5i32, 0..4i64, any::<u128>()), 0..60),
        limit in 0..12usize,
        floor in prop::option::of(0..4i64),
    ) {
        let session = SessionId::new("s").unwrap();
        let items: Vec<(ItemId, Fields)> = rows
            .iter()
            .map(|(_, at, id)| {
                (ItemId::Record(RecordId(uuid::Uuid::from_u128(*id))), Fields::of_span(&session, Seq(1), Timestamp(*at)))
            })
            .collect();
        let filter = floor.map_or(Filter::All, |at| Filter::range(Field::At, Some(at.into()), None));
        let candidate = |place: usize| {
            let (item, fields) = &items[place];
            Candidate { score: rows[place].0 as f32, item, fields, place }
        };
        let mut best = Best::new(limit, &filter);
        (0..items.len()).for_each(|place| best.offer(candidate(place)));
        let mut expected: Vec<Candidate> = (0..items.len()).map(candidate).collect();
        expected.retain(|candidate| filter.matches(candidate.fields));
        expected.sort_by_key(|candidate| {
            (Reverse(rows[candidate.place].0), Reverse(candidate.fields.at), candidate.item.clone())
        });
        expected.truncate(limit);
        let kept: Vec<usize> = best.into_sorted().map(|candidate| candidate.place).collect();
        prop_assert_eq!(kept, expected.iter().map(|candidate| candidate.place).collect::<Vec<_>>());
    }
}
