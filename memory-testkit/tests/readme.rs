//! The README shows the example that is played.

#[test]
fn the_worked_example_of_the_readme_is_the_one_that_is_played() {
    let (readme, example) = (include_str!("../README.md"), include_str!("../examples/tiny_cache.rs"));
    assert!(readme.contains(&format!("```rust,no_run\n{example}```")), "copy examples/tiny_cache.rs into the README");
    let lines = example.lines().count();
    assert!(lines <= 150, "{lines} lines are no small example");
}
