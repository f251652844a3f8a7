//! Texts with secrets, and texts that look like them.

use super::*;

fn cut(text: &str) -> (String, Vec<Secret>) {
    without_secrets(text)
}

#[test]
fn the_lists_are_split_into_their_words() {
    assert_eq!((TOKENS.len(), NAMES.len()), (40, 20));
}

#[test]
fn o16_secrets_are_cut_out_and_the_rest_stays() {
    for (text, left, secret) in [
        ("my key is sk-proj-abc123def456ghi789, keep it", "my key is [cut out], keep it", Secret::Token),
        ("use ghp_0123456789abcdefABCDEF for git", "use [cut out] for git", Secret::Token),
        ("password: hunter2", "password: [cut out]", Secret::Password),
        ("The password is hunter2!", "The password is [cut out]!", Secret::Password),
        ("DB_URL postgres://ada:geheim@db/x here", "DB_URL postgres://ada@db/x here", Secret::Login),
        ("token=abc", "token=[cut out]", Secret::Password),
        ("pay by 4111 1111 1111 1111 please", "pay by [cut out] please", Secret::Card),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[cut out]\nb",
            Secret::PrivateKey,
        ),
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[cut out]", Secret::Password),
        ("Server=db;User Id=sa;Password=x1;Pool=4", "Server=db;User Id=sa;Password=[cut out];Pool=4", Secret::Password),
        ("the key=sk-proj-abc123def456ghi789 works", "the key=[cut out] works", Secret::Token),
        ("Authorization: Bearer 0123456789abcdef/+==", "Authorization: Bearer [cut out]==", Secret::Token),
        ("{\"db_password\":\"hunter2\"}", "{\"db_password\":[cut out]\"}", Secret::Password),
        ("password - tulip-42", "password - [cut out]", Secret::Password),
        ("Das Kennwort ist tulpe42.", "Das Kennwort ist [cut out].", Secret::Password),
        ("room 12 4111 1111 1111 1111 and 7", "room 12 [cut out] and 7", Secret::Card),
        ("4111.1111.1111.1111", "[cut out]", Secret::Card),
        ("2223 0031 2200 3222", "[cut out]", Secret::Card),
        ("3782 822463 10005", "[cut out]", Secret::Card),
        (
            "a\n-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----\nb",
            "a\n[cut out]\nb",
            Secret::PrivateKey,
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", "[cut out]", Secret::PrivateKey),
        ("{\"Authorization\":\"Bearer 0123456789abcdef\"}", "{\"Authorization\":\"Bearer [cut out]\"}", Secret::Token),
        (
            "{\"Accept\":\"x\",\"Authorization\":\"Bearer abcdEFGHijkl0123\",\"to\":\"Ada\"}",
            "{\"Accept\":\"x\",\"Authorization\":\"Bearer [cut out]\",\"to\":\"Ada\"}",
            Secret::Token,
        ),
    ] {
        assert_eq!(cut(text), (left.to_owned(), vec![secret]), "{text}");
    }
}

#[test]
fn o16_in_json_a_password_is_cut_out_whatever_it_looks_like_and_nothing_else() {
    for (text, left) in [
        ("{\"password\": \"tulips\", \"to\": 1}", "{\"password\": \"[cut out]\", \"to\": 1}"),
        ("{\"password\": \" red and blue \"}", "{\"password\": \"[cut out]\"}"),
        ("{\"Password\":\n  \"tulips\"}", "{\"Password\":\n  \"[cut out]\"}"),
        ("{\"user\":\"ada\",\"pwd\":\"red and blue\"}", "{\"user\":\"ada\",\"pwd\":\"[cut out]\"}"),
        (
            "{\"password\":\"x\",\"text\":\"I moved to Berlin last year\"}",
            "{\"password\":\"[cut out]\",\"text\":\"I moved to Berlin last year\"}",
        ),
        // A quote behind an odd number of backslashes ends nothing.
        ("{\"password\": \"a \\\"b\\\" c\", \"to\": 1}", "{\"password\": \"[cut out]\", \"to\": 1}"),
        ("{\"password\":\"a b\\\\\",\"text\":\"I moved\"}", "{\"password\":\"[cut out]\",\"text\":\"I moved\"}"),
        ("{\"password\": \"a \\\\\\\" b\", \"to\": 1}", "{\"password\": \"[cut out]\", \"to\": 1}"),
        // A key is known behind each name of a secret.
        (
            "{\"password\":\"x\",\"user\":\"ada\",\"api_key\":\"0123456789abcdef\",\"to\":1}",
            "{\"password\":\"[cut out]\",\"user\":\"ada\",\"api_key\":\"[cut out]\",\"to\":1}",
        ),
        ("{\"password\":\"x\",\"token\":\"abc\"}", "{\"password\":\"[cut out]\",\"token\":[cut out]\"}"),
        ("the password is tulip-42, {\"password\": \"a\"}", "the password is [cut out], {\"password\": \"[cut out]\"}"),
    ] {
        assert_eq!(cut(text), (left.to_owned(), vec![Secret::Password]), "{text}");
    }
    let (text, found) = cut("{\"user\":\"ada\",\"token\":\"ghp_0123456789abcdefABCDEF\"}");
    assert_eq!((text.as_str(), found), ("{\"user\":\"ada\",\"token\":\"[cut out]\"}", vec![Secret::Token]));
    // What was cut out already is no secret.
    assert_eq!(cut(&text), (text.clone(), vec![]));
    let password = "{\"password\":\"[cut out]\"}";
    assert_eq!(cut(password), (password.to_owned(), vec![]));
}

#[test]
fn o16_of_a_private_key_whose_beginning_is_missing_the_lines_are_cut_out() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let end = "-----END RSA PRIVATE KEY-----";
    for (text, left) in [
        (format!("my key\n{line}\n{line}\nMzEf==\n{end}\nis safe"), "my key\n[cut out]\nis safe"),
        (format!("{line}\n{end}"), "[cut out]"),
        (format!("{line}\n{line}\nMzEf\n=aB3d\n{end}"), "[cut out]"),
        (format!("{{\"key\":\"{line}\\n{line}\\n{end}\\n\"}}"), "{\"key\":\"[cut out]\\n\"}"),
    ] {
        assert_eq!(cut(&text), (left.to_owned(), vec![Secret::PrivateKey]), "{text}");
    }
    for text in [format!("{line}\n-----END CERTIFICATE-----"), format!("the end\n=aB3d\n{end}")] {
        assert_eq!(cut(&text), (text.clone(), vec![]));
    }
}

#[test]
fn o16_what_is_no_secret_is_left_as_it_is() {
    for text in [
        "Ada's password is safe with her",
        "The token ring of 1985 had 4 machines",
        "Order 4111 1111 1111 1112 was shipped",
        "Call +49 30 901820 between 9 and 17",
        "https://example.org/a?page=2 tells more",
        "Ada's mail is ada@example.org",
        "-----BEGIN CERTIFICATE----- MIIB -----END CERTIFICATE-----",
        "The bearer of good news came at noon",
        "max_tokens=1500 and token_count=3",
        "Ada - a gardener - lives in Porto",
        "In 2024 1 200 people came, in 2025 1 300",
        "A key ends with -----END PRIVATE KEY-----",
        "Authorization: Bearer authentication is what the server wants",
        "Authorization: Bearer config.accessToken or <yourAccessTokenGoesHere> or YOUR_ACCESS_TOKEN",
        "headers[\"Authorization\"] = \"Bearer \" + accessTokenOfTheUser;",
        "{\"plan\":\"Basic subscription-2024\",\"to\":\"Ada\"}",
        "{\"tokens\": 12, \"password\": \"\", \"secret\": null}",
        "{\"password\": {\"type\": \"string\"}, \"tokens\": [\"hello\", \"world\"]}",
        "{\"type\":\"object\",\"properties\":{\"password\":{\"type\":\"string\"}},\"required\":[\"password\",\"user_id\"]}",
        "{\n  \"password\": {\n    \"type\": \"string\",\n    \"format\": \"password\"\n  }\n}",
        "{\"name\":\"password\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}}",
        "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\", \"model\": \"small\"}",
        "{\"model\":\"small\",\"bos_token\":\"<s>\",\"title\":\"Token\",\"token\":\"Token\"}",
        "{\"token\": \"https://example.org/token/v2\", \"secret\": \"The butler did it, in 1890\"}",
        "{\"forgot_password\": \"Forgot your password?\"}",
        "let password = \"\"; if (password == \"\") { return; }",
        "The field \"password\": it is required, and \"token\": that one is not",
        "She said \"the password\": \"tulips\"",
        "a  b\n\nc\t d",
        "",
    ] {
        assert_eq!(cut(text), (text.to_owned(), vec![]), "{text}");
    }
}
