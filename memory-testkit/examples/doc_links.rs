//! Finds links that lead nowhere in the documentation that `cargo doc` wrote:
//! `cargo run -p memory-testkit --example doc_links -- target/doc memory memory_core`.
//!
//! What rustdoc links by itself it checks by itself; this looks at links to files, as a README has them, and at those within
//! a page.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Links in the documentation of other crates' traits, which rustdoc copies onto the pages of ours.
const COPIED: [&str; 1] = ["dispatcher#setting-the-default-subscriber"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let root = args.next().ok_or("say where the documentation is, and of which crates")?;
    let mut pages = Vec::new();
    for name in args {
        find_pages(&root.join(name), &mut pages)?;
    }
    if pages.is_empty() {
        return Err("there is no documentation".into());
    }
    let mut broken = BTreeSet::new();
    for page in &pages {
        let text = fs::read_to_string(page)?;
        broken.extend(links(&text).filter(|link| !leads_somewhere(page, &text, link)).map(|link| (link, page)));
    }
    let mut out = io::stdout().lock();
    for (link, page) in &broken {
        writeln!(out, "{}: {link}", page.display())?;
    }
    writeln!(out, "{} pages, {} broken links", pages.len(), broken.len())?;
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find_pages(folder: &Path, pages: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_pages(&path, pages)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Returns where the links of a page lead.
fn links(text: &str) -> impl Iterator<Item = String> {
    let links = text.split("href=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.replace("&amp;", "&")));
    // A page's own program makes others, from a pattern.
    links.filter(|link| !link.contains("${") && !COPIED.contains(&link.as_str()))
}

fn leads_somewhere(page: &Path, text: &str, link: &str) -> bool {
    let (file, place) = link.split_once('#').unwrap_or((link, ""));
    let file = file.split('?').next().unwrap_or_default();
    if file.is_empty() {
        return place.is_empty() || text.contains(&format!("id=\"{place}\""));
    }
    // Another site is not looked at.
    let is_elsewhere =
        file.split_once(':').is_some_and(|(kind, _)| kind.bytes().all(|byte| byte.is_ascii_alphabetic()));
    is_elsewhere || page.parent().is_some_and(|folder| folder.join(file).exists())
}
