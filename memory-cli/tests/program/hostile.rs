//! Large files that mean harm: the program ends, says why in a few words, and its memory keeps its bound.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::process::Command;

use crate::support::{Answer, Bed, answer};

/// Runs the program within 300 MiB of memory and twenty seconds of a processor: beyond them it is killed. Without optimisation the
/// slowest file takes eight of them on a quiet machine.
const BOUNDED: &str = "ulimit -d 307200; ulimit -t 20; exec \"$0\" \"$@\"";
const MIB: usize = 1 << 20;

/// A file: pieces of text, each so many times.
type Pieces<'a> = &'a [(&'a str, usize)];

fn import(bed: &Bed, pieces: Pieces<'_>) -> Answer {
    let path = bed.path("hostile.json");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    for (piece, times) in pieces {
        (0..*times).for_each(|_| file.write_all(piece.as_bytes()).unwrap());
    }
    file.into_inner().unwrap();
    let program = bed.command();
    let mut command = Command::new("sh");
    command.arg("-c").arg(BOUNDED).arg(program.get_program()).args(program.get_args());
    command.args(["import", path.to_str().unwrap()]).env_clear().current_dir(bed.path(""));
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let answer = answer(&mut command, b"");
    fs::remove_file(path).unwrap();
    answer
}

#[test]
fn large_files_that_mean_harm_end_soon_and_take_little_memory() {
    let bed = Bed::new();
    let open = "{\"role\":\"user\",\"content\":\"x\",\"z\":[";
    let close = "0]}\n";
    let object = "{\"\":0},";
    let image = format!(
        "{{\"role\":\"user\",\"content\":[{{\"type\":\"image_url\",\"image_url\":{{\"url\":\"data:{}\"}}}}]}}\n",
        "A".repeat(3 * MIB)
    );
    let heavy = format!("{{\"role\":\"user\",\"content\":[{{\"type\":\"x\",\"v\":[{}0]}}]}}\n", object.repeat(4_000));
    let short = "{\"role\":\"user\",\"content\":\"a\"},";
    let files: [(&str, Pieces<'_>, i32); 11] = [
        ("a line of 50 MiB of objects", &[(open, 1), (object, 50 * MIB / 7), (close, 1)], 2),
        ("a line of 60 MiB of numbers", &[(open, 1), ("0,", 30 * MIB), (close, 1)], 2),
        ("a line of 31 MiB of objects", &[(open, 1), (object, 31 * MIB / 7), (close, 1)], 2),
        ("a line of 31 MiB of numbers", &[(open, 1), ("0,", 31 * MIB / 2), (close, 1)], 2),
        (
            "a line of 31 MiB of keys",
            &[("{\"role\":\"user\",\"content\":\"x\"", 1), (",\"k\":\"\"", 31 * MIB / 7), ("}\n", 1)],
            2,
        ),
        ("a line of 31 MiB of text", &[("{\"role\":\"user\",\"content\":\"", 1), ("a", 31 * MIB), ("\"}\n", 1)], 2),
        (
            "a line of 31 MiB of escapes",
            &[("{\"role\":\"user\",\"content\":\"", 1), ("\\u0000", 31 * MIB / 6), ("\"}\n", 1)],
            2,
        ),
        ("an array of 60 MiB of objects", &[("[", 1), (open, 1), (object, 60 * MIB / 7), ("0]}]", 1)], 2),
        (
            "a conversation of 10 MiB of short messages",
            &[("{\"messages\":[", 1), (short, 10 * MIB / 30), ("0]}\n", 1)],
            2,
        ),
        ("24 images of 3 MiB", &[(&image, 24)], 0),
        ("24 messages of 4,000 objects", &[(&heavy, 24)], 0),
    ];
    for (what, pieces, code) in files {
        let answer = import(&bed, pieces);
        assert_eq!(answer.code, code, "{what}: {}", answer.stderr);
        assert!(answer.stderr.len() < 1_000 && !answer.stderr.contains("panicked"), "{what}: {}", answer.stderr);
    }
}
