//! YAML as a tree of names and texts that knows where each stands. Anchors, tags and further documents are refused, so no file
//! grows when it is read.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::problem::{At, Problem, lines};

/// The largest file, in bytes.
pub(super) const LARGEST: usize = 1 << 20;
/// How deep a file may be nested. Settings have three levels.
const DEEPEST: usize = 16;

/// How a file that is no YAML is put right.
const HOW: &str = "write `name: value`, indent by spaces, and put a value with special characters into quotes";

/// What stands behind a name.
pub(super) enum Node {
    /// Nothing.
    Nothing,
    /// A text; numbers are texts here.
    Text(String, At),
    /// A list.
    List(At),
    /// Names with what stands behind each.
    Map(Vec<Entry>),
}

/// A name, and what stands behind it.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) node: Node,
}

/// Returns the tree of a file.
pub(super) fn parse(source: &str) -> Result<Node, Problem> {
    if source.len() > LARGEST {
        let what = format!("the file has more than {LARGEST} bytes");
        return Err(Problem::of_file(what, "settings fit into a few hundred lines"));
    }
    let mut reader = Reader { source, parser: Parser::new_from_str(source) };
    let mut root = Node::Nothing;
    let mut documents = 0;
    while let Some((event, at)) = reader.next()? {
        match event {
            Event::DocumentStart(_) => documents += 1,
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Nothing => {}
            _ if documents > 1 => {
                let how = "put all settings below one `memory:`, without `---` between them";
                return Err(Problem::of_place(source, at.line, at.from, "a second document begins here", how));
            }
            event => root = reader.node(event, at, 0)?,
        }
    }
    Ok(root)
}

struct Reader<'a> {
    source: &'a str,
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Reader<'a> {
    /// Returns the next event; none at the end.
    fn next(&mut self) -> Result<Option<(Event<'a>, At)>, Problem> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                let at = at(self.source, span);
                self.is_plain(&event, at)?;
                Ok(Some((event, at)))
            }
            // What the parser says may quote the file.
            Some(Err(error)) => {
                let marker = error.marker();
                Err(Problem::of_place(self.source, marker.line(), marker.col(), "this is no YAML", HOW))
            }
        }
    }

    /// Returns `Ok` unless an event has an anchor, an alias or a tag.
    fn is_plain(&self, event: &Event<'_>, at: At) -> Result<(), Problem> {
        let refused = match event {
            Event::Alias(_) => Some("an alias"),
            Event::Scalar(_, _, anchor, tag) => marked(*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => marked(*anchor, tag.is_some()),
            _ => None,
        };
        refused.map_or(Ok(()), |what| {
            let how = "write the value itself, without `&`, `*` and `!`; quote a value that begins so";
            Err(Problem::of_place(self.source, at.line, at.from, format!("{what} is not read in settings"), how))
        })
    }

    /// Returns the node that begins with an event.
    fn node(&mut self, event: Event<'a>, at: At, depth: usize) -> Result<Node, Problem> {
        if depth > DEEPEST {
            return Err(Problem::of_place(self.source, at.line, at.from, "this is nested too deep", "three levels do"));
        }
        match event {
            Event::Scalar(text, style, ..) => {
                let is_nothing = style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                Ok(if is_nothing { Node::Nothing } else { Node::Text(text.into_owned(), at) })
            }
            Event::SequenceStart(..) => {
                while let Some((event, item)) = self.next()? {
                    if event == Event::SequenceEnd {
                        break;
                    }
                    self.node(event, item, depth + 1)?;
                }
                Ok(Node::List(at))
            }
            Event::MappingStart(..) => self.map(depth),
            _ => Ok(Node::Nothing),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Node, Problem> {
        let mut entries = Vec::new();
        while let Some((event, at)) = self.next()? {
            let name = match event {
                Event::MappingEnd => break,
                Event::Scalar(name, ..) => name.into_owned(),
                _ => {
                    let what = "a list or a map stands where a name is expected";
                    return Err(Problem::of_place(self.source, at.line, at.from, what, HOW));
                }
            };
            let Some((event, value)) = self.next()? else { break };
            let node = self.node(event, value, depth + 1)?;
            entries.push(Entry { name, at, node });
        }
        Ok(Node::Map(entries))
    }
}

fn marked(anchor: usize, is_tagged: bool) -> Option<&'static str> {
    match (anchor, is_tagged) {
        (0, false) => None,
        (0, true) => Some("a tag"),
        _ => Some("an anchor"),
    }
}

/// Returns where a span stands, as far as its first line goes.
fn at(source: &str, span: Span) -> At {
    let (line, from) = (span.start.line(), span.start.col());
    let to = if span.end.line() == line {
        span.end.col()
    } else {
        lines(source).nth(line.saturating_sub(1)).map_or(from, |text| text.trim_end().chars().count())
    };
    At { line, from, to: to.max(from) }
}
