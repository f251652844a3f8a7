use proptest::prelude::*;

use super::*;

/// Returns the events of a stream that comes in as these parts.
fn events<'a>(framing: Framing, parts: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<String>, Fault> {
    let mut frames = Frames::new(framing);
    let mut events = Vec::new();
    for part in parts {
        events.extend(frames.push(part)?);
    }
    events.extend(frames.end()?);
    Ok(events)
}

fn sse(stream: &str) -> Vec<String> {
    events(Framing::Events, [stream.as_bytes()]).unwrap()
}

#[test]
fn events_are_cut_as_the_standard_says() {
    assert_eq!(sse("data: a\n\ndata:b\n\n"), ["a", "b"]);
    assert_eq!(sse("data: a\r\n\r\ndata: b\r\rdata: c\n\r\n"), ["a", "b", "c"]);
    assert_eq!(sse(": ping\n\n:\nevent: x\nid: 1\nretry: 5\ndata: a\ndata:  b\ndata\n\n"), ["a\n b\n"]);
    assert_eq!(sse("\u{feff}data: a\n\n"), ["a"]);
    assert_eq!(sse("data: a\n\ndata: never ended\n"), ["a"]);
    assert_eq!(sse("event: x\n\ndatabase: y\n\ndata: z\n\n"), ["z"]);
    assert_eq!(sse("\n\n\n"), [""; 0]);
}

#[test]
fn lines_are_values_also_the_last_without_an_end() {
    let cut = |stream: &str| events(Framing::Lines, [stream.as_bytes()]).unwrap();
    assert_eq!(cut("{\"a\":1}\n\r\n{\"b\":2}\r\n  \n{\"c\":3}"), ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
}

#[test]
fn an_event_without_end_and_one_that_is_no_text_are_refused() {
    let long = "x".repeat(EVENT_BYTES);
    for framing in [Framing::Events, Framing::Lines] {
        let parts = ["data: ", &long].map(str::as_bytes);
        assert_eq!(events(framing, parts), Err(Fault::TooLong));
        assert!(matches!(events(framing, [&b"data: \xff\n\n"[..]]), Err(Fault::Garbled(_))));
    }
    let many = "data: x\n".repeat(EVENT_BYTES);
    assert_eq!(events(Framing::Events, [many.as_bytes()]), Err(Fault::TooLong));
}

proptest! {
    #[test]
    fn where_a_stream_is_split_does_not_matter(
        stream in "(data: ?[a-zé€😀{}: ]{0,8}|: [a-z]{0,3}|event: x|)((\n|\r\n|\r)(data: ?[a-z😀]{0,8}|:|id: 1|)){0,12}",
        cuts in prop::collection::vec(0..200_usize, 0..12),
        is_lines in any::<bool>()
    ) {
        let framing = if is_lines { Framing::Lines } else { Framing::Events };
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let parts = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        prop_assert_eq!(events(framing, parts), events(framing, [bytes]));
        prop_assert_eq!(events(framing, bytes.chunks(1)), events(framing, [bytes]));
    }

    #[test]
    fn no_bytes_panic(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20)) {
        for framing in [Framing::Events, Framing::Lines] {
            let _ = events(framing, parts.iter().map(Vec::as_slice));
        }
    }
}
