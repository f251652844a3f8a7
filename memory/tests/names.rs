//! A glob import hides nothing of the standard library's prelude: what compiles without it compiles with it.

/// Writes the same module once for each import.
macro_rules! beside {
    ($($name:ident: $import:path;)*) => {$(
        mod $name {
            use $import::*;

            #[expect(dead_code, reason = "the names are what matters")]
            struct Holder<T: Clone + Send + Sync + Default + PartialEq>(Option<Box<T>>, Vec<String>);

            fn halve(number: u32) -> Result<u32, String> {
                if number.is_multiple_of(2) { Ok(number / 2) } else { Err(format!("{number} is odd")) }
            }

            #[test]
            fn results_and_options_are_those_of_the_standard_library() {
                let all: Result<Vec<u32>, String> = [2, 4].into_iter().map(halve).collect();
                assert_eq!(all, Ok(vec![1, 2]));
                assert_eq!(halve(3).unwrap_err(), "3 is odd");
                let parsed: Result<u8, std::num::ParseIntError> = "7".parse();
                assert!(parsed.is_ok_and(|seven| Some(seven) == Some(u8::from(7))));
                assert_eq!(i64::try_from(7_u32).map(|seven| seven.to_string().as_str().to_owned()), Ok("7".to_owned()));
                drop(Box::new(String::from(Role::User.name())));
            }

            #[test]
            fn an_error_of_the_standard_library_is_imported_as_ever() {
                use std::error::Error;
                let boxed: Box<dyn Error> = "none".into();
                assert_eq!(boxed.to_string(), "none");
            }
        }
    )*};
}

beside! {
    all: memory;
    prelude: memory::prelude;
}

#[tokio::test]
async fn the_prelude_has_what_a_program_calls() {
    use memory::prelude::*;

    let memory: Memory = memory::open("memory:").await.unwrap().build().await.unwrap();
    let ada: Scoped = memory.of(&Scope::new("acme", "ada").unwrap());
    let session: Session = ada.session(&SessionId::new("talk").unwrap());
    session.append(vec![Message::new(Role::User, "a rose", memory.now())]).await.unwrap();
    ada.remember(Remember::fact("Ada has a rose")).await.unwrap();
    memory.upkeep_once().await.unwrap();
    let search = Search::new("rose").only(Unit::Message).matching(Filter::eq(Field::Role, "user"));
    assert_eq!(ada.search(&search).await.unwrap().hits.len(), 1);
    assert!(ada.forget(&Forget::Everything).await.unwrap().complete);
}
