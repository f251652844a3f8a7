//! A file of settings: read, or refused with places that are in the file, and no secret in what is shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory::{Problem, Settings};
use memory_fuzz::run;

/// The value of every secret.
const SECRET: &str = "Zq7x@/:Zq7x";
/// What of it is left however it is encoded.
const MARK: &str = "Zq7x";

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let secrets = |name: &str| (!name.starts_with("NO")).then(|| SECRET.to_owned());
    let shown = match Settings::from_yaml(text, secrets) {
        Ok(settings) => {
            build(&settings);
            format!("{settings:?}")
        }
        Err(error) => {
            assert!(!error.problems().is_empty());
            error.problems().iter().for_each(|problem| stands(text, problem));
            format!("{error}\n{error:?}\n{}", memory::Error::from(error.clone()))
        }
    };
    assert!(!shown.contains(MARK) || text.contains(MARK), "{shown}");
});

/// Builds a memory of the settings over stores of this process. Places and models of others are not asked.
fn build(settings: &Settings) {
    run(async {
        let stores = Settings::new("memory:").without_embedder().connect().await.expect("stores in this process");
        if let Ok(builder) = settings.over(stores) {
            let _ = builder.build().await;
        }
    });
}

/// Looks whether a problem stands in the file, and its caret below what is shown.
fn stands(text: &str, problem: &Problem) {
    assert_eq!(problem.line == 0, problem.column == 0, "{problem:?}");
    // A line ends as YAML says, with one of three ends.
    let lines = text.replace("\r\n", "\n").split(['\r', '\n']).count();
    assert!(problem.line <= lines, "{problem:?} of {lines}");
    let shown = problem.to_string();
    assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\n'), "{shown:?}");
    let lines: Vec<&str> = shown.split('\n').collect();
    let [_, _, line, caret, _] = lines.as_slice() else {
        assert_eq!(lines.len(), 2, "{shown}");
        return;
    };
    let width = line.chars().count().max(caret.find('^').expect("a caret") + 1);
    assert!(caret.chars().count() <= width, "{shown}");
}
