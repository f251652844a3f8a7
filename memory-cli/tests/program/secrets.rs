//! A password that is given to the program is in nothing that it says.

use crate::support::{Answer, Bed, answer};

const SECRET: &str = "hunter2";

/// Ways to write a place with a password, right ones and mistyped ones.
fn places() -> Vec<String> {
    let kinds = ["POSTGRES", "redis", "x y"];
    let ways = ["://", ":/", ":", "//", ":///", "%3A%2F%2F", " ://", ":\\\\"];
    let mut places: Vec<String> =
        kinds.iter().flat_map(|kind| ways.iter().map(move |way| format!("{kind}{way}u:{SECRET}@h/x"))).collect();
    for place in [
        "postgres://u:a b hunter2 c@h/x",
        "POSTGRES://u:p@ss/hunter2@h:5432/x?sslmode=require",
        "postgres://u%3Ahunter2%40h/x",
        "postgres%3A%2F%2Fu%3Ahunter2%40h%2Fx",
        "postgres://h/x?user=u&PASSWORD=hunter2",
        "postgres://h/x?p%61ssword=hunter2",
        "qdrant://h?api_key=hunter2",
        "redis://:hunter2@h,redis://:hunter2@k",
        "postgres://u:hunter2",
        "postgres://u:hunter2@",
        "u:hunter2@h/x",
        "host=h user=u password=hunter2",
        "  postgres://u:hunter2@h/x\n",
        "postgres://u:hunter2@h/x\npostgres://u:hunter2@h/x",
    ] {
        places.push(place.to_owned());
    }
    places
}

fn check(what: &str, said: &Answer) {
    let Answer { code, stdout, stderr } = said;
    assert!(!stdout.contains(SECRET) && !stderr.contains(SECRET), "{what}: {code}: {stdout}{stderr}");
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
}

#[test]
fn no_form_of_a_place_is_said_with_its_password() {
    let bed = Bed::new();
    let owner = ["--tenant", "a", "--subject", "b"];
    for place in places() {
        let place = place.as_str();
        let commands: [&[&str]; 6] = [
            &["--db", place, "stats"],
            &["--db", place, "--json", "remember", "one"],
            &["--db", place, "--json", "stats"],
            &["import", place],
            &["move", "--from", place, "--to", "to.sqlite"],
            &["eval", "locomo", place],
        ];
        for args in commands {
            check(&format!("{args:?}"), &answer(bed.bare().args(owner).args(args), b""));
        }
        let mut environment = bed.bare();
        environment.env("MEMORY_URL", place).args(owner).arg("sessions");
        check(&format!("MEMORY_URL={place}"), &answer(&mut environment, b""));
        let mut environment = bed.bare();
        environment.env("MEMORY_TEXT_URL", place).env("MEMORY_CACHE_URL", place).args(owner).arg("sessions");
        check(&format!("MEMORY_TEXT_URL={place}"), &answer(&mut environment, b""));
    }
}

#[test]
fn a_place_where_none_belongs_is_said_without_its_password() {
    let bed = Bed::new();
    for place in places() {
        let place = place.as_str();
        let (equal, option) = (format!("--db={place}"), format!("--dbb={place}"));
        let commands: [&[&str]; 8] = [
            &[place],
            &[&equal, "fly"],
            &[&option, "stats"],
            &["search", "x", "-k", place],
            &["search", "x", "--as-of", place],
            &["search", "x", "--kind", place],
            &["forget", "--id", place],
            &["stats", "too", place],
        ];
        for args in commands {
            check(&format!("{args:?}"), &answer(bed.bare().args(args), b""));
        }
    }
}
