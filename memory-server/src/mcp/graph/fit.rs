//! Answers that fit: shorter observations before fewer entities, and words on what is missing.

use serde_json::{Map, Value};

use super::shapes::pretty;
use crate::mcp::answer::{Answer, Fitting};

/// Characters of all observations of an entity, and of each other text: as many as fit.
const ROOMS: [usize; 5] = [8_000, 2_000, 500, 120, 0];
/// Characters of a name where there is no room.
const LEAST: usize = 30;
/// What an observation costs besides its characters.
const FRAME: usize = 4;
/// The member that says what is missing.
pub(super) const LEFT_OUT: &str = "leftOut";

/// Which entities an answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Showing {
    /// Some of many: those that were made first are left out, before observations have no room at all.
    Newest,
    /// Those that were asked for by name: none is left out while the names fit.
    Named,
}

impl Showing {
    fn rooms(self) -> impl Iterator<Item = usize> {
        ROOMS.into_iter().filter(move |room| *room > 0 || self == Self::Named)
    }
}

/// Returns the answer if it fits, as text and as JSON; else as much of it as fits, which is the same JSON as text.
pub(super) fn fitted(answer: Answer, showing: Showing, fitting: &Fitting) -> Answer {
    if fits(&answer, fitting) {
        return answer;
    }
    let Some(Value::Object(whole)) = &answer.structured else { return answer };
    let mut lists = whole.clone();
    // Relations take no more than half: the entities have the rest.
    if lists.get("entities").is_some_and(|entities| !is_empty(entities)) {
        let half = fitting.half();
        while let Some(relations) = relations(&mut lists).filter(|relations| !half.fits(&pretty(relations))) {
            drop_oldest(relations);
        }
    }
    let mut smallest = 0;
    for room in showing.rooms() {
        let shown = shown(whole, &lists, room);
        if fits(&shown, fitting) {
            return shown;
        }
        smallest = room;
    }
    loop {
        match relations(&mut lists).filter(|relations| showing == Showing::Named && !is_empty(relations)) {
            Some(relations) => drop_oldest(relations),
            None => lists.values_mut().for_each(drop_oldest),
        }
        let shown = shown(whole, &lists, smallest);
        if fits(&shown, fitting) || lists.values().all(is_empty) {
            return shown;
        }
    }
}

fn fits(answer: &Answer, fitting: &Fitting) -> bool {
    fitting.fits(&answer.text) && answer.structured.as_ref().is_none_or(|value| fitting.fits(&value.to_string()))
}

fn relations(lists: &mut Map<String, Value>) -> Option<&mut Value> {
    lists.get_mut("relations")
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn is_empty(list: &Value) -> bool {
    items(list).is_empty()
}

/// Takes the first eighth: each look at what is left counts all tokens.
fn drop_oldest(list: &mut Value) {
    if let Value::Array(items) = list {
        items.drain(..items.len().div_ceil(8));
    }
}

/// Returns the answer that shows `lists` in so much room, and what it shows less than the whole.
fn shown(whole: &Map<String, Value>, lists: &Map<String, Value>, room: usize) -> Answer {
    let (mut shown, mut missing, mut shorter) = (Map::new(), Vec::new(), 0);
    for (name, list) in lists {
        let mut items = items(list).to_vec();
        let rest = whole.get(name).map_or(0, |all| self::items(all).len()) - items.len();
        if rest > 0 {
            missing.push(format!("the first {rest} {name} are left out"));
        }
        for item in &mut items {
            shorter += usize::from(shorten(item, room));
        }
        shown.insert(name.clone(), Value::Array(items));
    }
    if shorter > 0 {
        missing.push(format!("{shorter} are shown without all their words"));
    }
    let words = format!("Not all fits here: {}. open_nodes with fewer names shows more.", missing.join(", "));
    shown.insert(LEFT_OUT.to_owned(), words.into());
    let value = Value::Object(shown);
    Answer { text: pretty(&value), structured: Some(value) }
}

/// Makes an item shorter, and returns whether anything was cut.
fn shorten(value: &mut Value, room: usize) -> bool {
    match value {
        Value::String(text) => clip(text, room.max(LEAST)),
        Value::Array(observations) => shorten_all(observations, room),
        Value::Object(members) => {
            let cut = members.values_mut().map(|member| shorten(member, room));
            cut.filter(|is_cut| *is_cut).count() > 0
        }
        _ => false,
    }
}

/// Keeps the last observations that have room together; the last one alone is clipped.
fn shorten_all(observations: &mut Vec<Value>, mut room: usize) -> bool {
    let (mut kept, mut is_cut) = (Vec::new(), false);
    for mut observation in std::mem::take(observations).into_iter().rev() {
        let length = observation.as_str().map_or(0, |text| text.chars().count());
        if room == 0 || (length > room && !kept.is_empty()) {
            is_cut = true;
            break;
        }
        if let Value::String(text) = &mut observation {
            is_cut |= clip(text, room);
        }
        room = room.saturating_sub(length + FRAME);
        kept.push(observation);
    }
    kept.reverse();
    *observations = kept;
    is_cut
}

fn clip(text: &mut String, characters: usize) -> bool {
    let Some((end, _)) = text.char_indices().nth(characters) else { return false };
    text.truncate(end);
    text.push('…');
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_loses_its_oldest_observations_first_and_its_name_last() {
        let entity = json!({ "name": "n".repeat(40), "observations": ["a".repeat(200), "b".repeat(50), "c"] });
        let at = |room| {
            let mut item = entity.clone();
            (shorten(&mut item, room), item)
        };
        assert_eq!(at(500), (false, entity.clone()));
        assert_eq!(at(120), (true, json!({ "name": "n".repeat(40), "observations": ["b".repeat(50), "c"] })));
        assert_eq!(at(0), (true, json!({ "name": format!("{}…", "n".repeat(30)), "observations": [] })));
        let mut long = json!({ "observations": ["d".repeat(200)] });
        assert!(shorten(&mut long, 120));
        assert_eq!(long["observations"][0], format!("{}…", "d".repeat(120)));
    }
}
