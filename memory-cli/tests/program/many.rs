//! 240 conversations of own text, the same in every run: titled and untitled, in several scripts, some of them hostile.

use serde_json::{Value, json};

pub(crate) const CONVERSATIONS: usize = 240;

/// Subjects: a title, what a person asks, what is answered.
const SUBJECTS: [[&str; 3]; 12] = [
    [
        "Sourdough that does not rise",
        "Why does my sourdough not rise?",
        "Is the starter active? Try feeding it twice a day, and keep the dough at 26 degrees.",
    ],
    [
        "東京の旅行計画",
        "来月、東京へ行きます。三日間の予定を考えてください。",
        "一日目は浅草、二日目は渋谷と原宿、三日目は鎌倉がおすすめです。",
    ],
    [
        "Umzug nach Köln",
        "Welche Unterlagen brauche ich für die Ummeldung in Köln?",
        "Personalausweis, Mietvertrag und die Wohnungsgeberbestätigung.",
    ],
    [
        "Parcel E-4471-B",
        "My parcel E-4471-B never arrived, where is it?",
        "It was handed to the neighbour at number 12 on Tuesday.",
    ],
    [
        "💐 Wedding flowers",
        "Peonies 🌸 or roses 🌹 for a wedding in May? 👩‍❤️‍👨",
        "Peonies are in season in May, and a florist near you has them.",
    ],
    [
        "Refactor the date parser",
        "Can you make this shorter?\n\n    fn parse(text: &str) -> Option<Date> {\n        text.parse().ok()\n    }",
        "It is short already; I would only rename it.",
    ],
    ["周末去哪里玩", "这个周末带孩子去哪里玩比较好？", "可以去植物园，那里有儿童区和湖边的小路。"],
    ["موعد طبيب الأسنان", "متى موعدي مع طبيب الأسنان؟", "يوم الثلاثاء في الساعة العاشرة صباحا."],
    [
        "Marathon plan",
        "I have sixteen weeks and can run four times a week.",
        "Begin with thirty kilometres a week, and add a tenth every week but the fourth.",
    ],
    [
        "https://example.org/a/very/long/address/without/any/blank/that/no/screen/can/hold/in/one/line",
        "What is on this page?",
        "I cannot open pages, but you can paste its text.",
    ],
    ["ระบบน้ำหยด", "ต้นมะเขือเทศควรรดน้ำวันละกี่ครั้ง", "วันละครั้งตอนเช้าก็พอ"],
    [
        "A title \u{1b}[31mthat means harm\u{1b}[0m\u{7}\nand has two lines",
        "Say \u{202e}nothing\u{2066} of \u{9b}2J this.",
        "I will not.",
    ],
];

/// How often a person writes after the first message.
fn turns(number: usize) -> usize {
    [0, 1, 2, 4, 9][number * 7 % 5]
}

fn subject(number: usize) -> [&'static str; 3] {
    SUBJECTS[number * 5 % SUBJECTS.len()]
}

/// Returns what is said in a conversation, oldest first.
fn said(number: usize) -> Vec<(&'static str, String)> {
    let [_, asked, answered] = subject(number);
    let mut said = vec![("user", asked.to_owned()), ("assistant", answered.to_owned())];
    for turn in 0..turns(number) {
        let more = ["thanks!", "And what would it cost?", "👍", "Please write that down for me."][(number + turn) % 4];
        said.push(("user", more.to_owned()));
        said.push(("assistant", format!("This is answer {} of conversation {number}.", turn + 2)));
    }
    said
}

/// Seconds since 1970 at which a conversation begins: one every eleven hours from 2024 on.
fn begins(number: usize) -> u64 {
    1_704_100_000 + 39_600 * u64::try_from(number).unwrap()
}

/// The even ones, as ChatGPT exports them: with titles, and named by UUIDs.
pub(crate) fn titled() -> String {
    let conversations = (0..CONVERSATIONS).step_by(2).map(|number| {
        let mut mapping = serde_json::Map::new();
        for (place, (role, text)) in said(number).into_iter().enumerate() {
            let at = begins(number) + 60 * u64::try_from(place).unwrap();
            let parent = place.checked_sub(1).map(|place| format!("n{place}"));
            let message = json!({
                "author": { "role": role }, "create_time": at, "content": { "content_type": "text", "parts": [text] },
            });
            mapping.insert(format!("n{place}"), json!({ "parent": parent, "children": [], "message": message }));
        }
        json!({
            "title": format!("{} {number}", subject(number)[0]), "create_time": begins(number),
            "conversation_id": format!("{number:08x}-0000-4000-8000-000000000000"),
            "current_node": format!("n{}", mapping.len() - 1), "mapping": mapping,
        })
    });
    Value::Array(conversations.collect()).to_string()
}

/// The odd ones, as chat JSON: without titles, and named in words.
pub(crate) fn untitled() -> String {
    let lines = (1..CONVERSATIONS).step_by(2).flat_map(|number| {
        said(number).into_iter().enumerate().map(move |(place, (role, text))| {
            let at = begins(number) + 60 * u64::try_from(place).unwrap();
            format!("{}\n", json!({ "session": format!("chat-{number}"), "at": at, "role": role, "content": text }))
        })
    });
    lines.collect()
}
