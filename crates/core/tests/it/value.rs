//! Values: which spellings are one value, which are two, what a call's digest covers, and what a person is shown of it.

use std::collections::BTreeMap;

use actum_core::{
    Call, CallError, Number, TOOL_NAME_MAX, VALUE_DEPTH_MAX, VALUE_NODES_MAX, VALUE_TEXT_MAX,
    Value, ValueKind,
};
use proptest::prelude::*;

fn same(kind: ValueKind, spellings: &[&str]) {
    for pair in spellings.windows(2) {
        let [a, b] = [pair[0], pair[1]].map(|text| kind.normal(text));
        assert!(a.is_some(), "{kind} {:?} is not of its kind", pair[0]);
        assert_eq!(a, b, "{kind} {:?} and {:?}", pair[0], pair[1]);
    }
}

/// No two of these are one thing; what is not of its kind is compared as it stands.
fn different(kind: ValueKind, spellings: &[&str]) {
    for (at, a) in spellings.iter().enumerate() {
        for b in &spellings[at + 1..] {
            let [x, y] = [a, b].map(|text| kind.normal(text));
            assert!(x != y || x.is_none(), "{kind} {a:?} and {b:?} are both {x:?}");
        }
    }
}

fn not_of(kind: ValueKind, texts: &[&str]) {
    for text in texts {
        assert_eq!(kind.normal(text), None, "{kind} {text:?}");
    }
}

#[test]
fn accounts_that_are_one() {
    let account = ValueKind::Account;
    same(
        account,
        &[
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "de89 3704 0044 0532 0130 00",
            "DE89-3704-0044-0532-0130-00",
            "DE89.3704.0044.0532.0130.00",
            " DE89\u{a0}3704\u{202f}0044 0532 0130 00 ",
        ],
    );
    same(account, &["GB82 WEST 1234 5698 7654 32", "gb82west12345698765432"]);
    same(account, &["12345678", "1234 5678", " 12 34 56 78"]);
    same(account, &["12-34-56", "12.34.56", "123456"]);
    same(account, &["4111-1111-1111-1111", "4111 1111 1111 1111"]);
    same(account, &["19-2000145399/0800", "19-2000 145399 / 0800"]);
}

#[test]
fn accounts_that_are_two() {
    different(
        ValueKind::Account,
        &[
            "DE89370400440532013000",
            "DE89370400440532013001",
            "DE8937040044053201300O",
            "DE8937040044053201300\u{ff10}",
            "DE8937040044053201300",
            "DE89370400440532013000\u{200b}",
            "\u{202e}DE89370400440532013000",
            "DЕ89370400440532013000",
            "DE89370400440532013000 DE89370400440532013000",
            "DE89/370400440532013000",
            "DE89,370400440532013000",
            "DE89370400440532013000\n",
        ],
    );
    // A Czech prefix, a bank code and the number are three things.
    different(ValueKind::Account, &["1-23/0800", "12-3/0800", "123/0800", "1-230800", "1230800"]);
    different(ValueKind::Account, &["12-34", "1234", "1-2-3-4", "12-345-6", "1-23-4"]);
    // Outside the IBAN, case can be part of the number.
    different(
        ValueKind::Account,
        &[
            "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
            "1boatSLRHtKNngkdXEeobR76b53LETtpyT",
            "1BOATSLRHTKNNGKDXEEOBR76B53LETTPYT",
        ],
    );
    // Check digits that do not fit: no IBAN, so nothing is folded.
    different(ValueKind::Account, &["DE88370400440532013000", "de88370400440532013000"]);
    not_of(ValueKind::Account, &["", " ", "---", "…", &"1".repeat(129)]);
}

#[test]
fn addresses_of_mail_that_are_one() {
    same(
        ValueKind::Email,
        &[
            "alice@x.example",
            "alice@X.Example",
            "<alice@x.example>",
            "mailto:alice@x.example",
            "MAILTO:alice@x.EXAMPLE",
            "<mailto:alice@x.example>",
        ],
    );
}

#[test]
fn addresses_of_mail_that_are_two() {
    different(
        ValueKind::Email,
        &[
            "alice@x.example",
            "Alice@x.example",
            "malice@x.example",
            "a.lice@x.example",
            "alice+pay@x.example",
            "alice@x.example.",
            "alice@sub.x.example",
            "alice@xexample",
            "аlice@x.example",
            "alice@х.example",
            "alice@x.example\u{200b}",
            "ali\u{200b}ce@x.example",
            "\u{202e}alice@x.example",
            "\u{ff41}lice@x.example",
            "a1ice@x.example",
            "alice@bücher.example",
            "alice@bu\u{308}cher.example",
            "alice@xn--bcher-kva.example",
            "al%69ce@x.example",
            "alice@x.example@evil.example",
        ],
    );
    not_of(
        ValueKind::Email,
        &[
            "",
            "@",
            "alice",
            "alice@",
            "@x.example",
            "alice@@x.example",
            "alice@x..example",
            "a@b@c.example",
            "Alice <alice@x.example>",
            "alice@x.example, bob@x.example",
            "alice@x.example\nBcc: m@evil.example",
            "\"a b\"@x.example",
            "alice@x.example?cc=m@evil.example",
            "alice @x.example",
            "alice@x.example/",
            "alice@[10.0.0.1]",
            "<alice@x.example",
            "a(evil)@x.example",
        ],
    );
}

#[test]
fn urls_that_are_one() {
    same(
        ValueKind::Url,
        &[
            "https://example.com/",
            "https://example.com",
            "HTTPS://EXAMPLE.com",
            "https://example.com:443/",
            "https://example.com:/",
            "https://example.com/.",
            "https://example.com/a/..",
            "https://example.com/%2e/%2E%2e",
        ],
    );
    same(
        ValueKind::Url,
        &[
            "https://example.com/~b/c?q=%C3%A9#f",
            "https://example.com/a/../%7eb/c?q=%c3%a9#f",
            "https://example.com/%7E%62/./c?q=é#%66",
        ],
    );
    same(ValueKind::Url, &["http://x:80/b", "http://x/a/../b", "http://x/../b"]);
    same(ValueKind::Url, &["ws://[::1]:80/", "ws://[::1]"]);
}

#[test]
fn urls_that_are_two() {
    different(
        ValueKind::Url,
        &[
            "https://example.com/a",
            "http://example.com/a",
            "https://example.com/A",
            "https://example.com/a/",
            "https://example.com//a",
            "https://example.com/a?",
            "https://example.com/a#",
            "https://example.com/a#b",
            "https://example.com/a?x=1",
            "https://example.com/a?x=1&",
            "https://example.com/a?X=1",
            "https://example.com/a?x=%31%20",
            "https://example.com/a?x=1+",
            "https://example.com:8443/a",
            "https://example.com:0443/a",
            "https://example.com./a",
            "https://www.example.com/a",
            "https://examp1e.com/a",
            "https://exаmple.com/a",
            "https://xn--exmple-4nf.com/a",
            "https://example.com@evil.example/a",
            "https://evil.example/example.com/a",
            "https://user@example.com/a",
            "https://user:p@example.com/a",
            "https://example.com%2Fa",
            "https://example.com/%2Fa",
            "https://example.com/%252Fa",
            "https://example.com/a%00",
            "https://example.com/a;b",
            "https://example.com/a%3Bb",
            "https://example.com/e\u{301}",
            "https://example.com/\u{e9}",
            "https://example.com/a\u{200b}",
            "https://example.com/\u{202e}a",
            "https://example.com\u{200b}/a",
            "https://ex\u{ad}ample.com/a",
            "https://e\u{ff58}ample.com/a",
            "https://127.0.0.1/a",
            "https://0x7f.0.0.1/a",
            "https://2130706433/a",
            "https://[::1]/a",
        ],
    );
}

#[test]
fn what_two_readers_could_read_in_two_ways_is_no_url() {
    not_of(
        ValueKind::Url,
        &[
            "",
            "example.com",
            "//example.com/a",
            "https:example.com",
            "https:/example.com",
            "https://",
            "https:///a",
            "https://good.example\\@evil.example/",
            "https://a@b@evil.example/",
            "https://ex%61mple.com/",
            "https://x.example/%",
            "https://x.example/%zz",
            "https://x.example/%%411",
            "https://x.example/a b",
            "https://x.exam\tple/",
            " https://x.example/",
            "https://x.example/\n",
            "https://x.example:80a/",
            "https://x.example:80:90/",
            "https://[::1/",
            "https://[::1]x/",
            "javascript:alert(1)",
            "data:text/html,x",
            "mailto:a@x.example",
            "1https://x.example/",
            "https://x.example/{a}",
            "https://x.example/<b>",
        ],
    );
}

#[test]
fn paths_that_are_one() {
    same(ValueKind::Path, &["/b", "//b", "/a/../b", "/./b", "/../b", "/a/./..//b"]);
    same(ValueKind::Path, &["a/b", "./a/b", "a//b", "a/c/../b", "a/./b"]);
    same(ValueKind::Path, &["a/", "a/.", "a/b/..", "./a//"]);
    same(ValueKind::Path, &["./", ".", "a/..", "./."]);
    same(ValueKind::Path, &["../a", "./../a", "b/../../a"]);
    same(ValueKind::Path, &["/", "/..", "//", "/a/.."]);
}

#[test]
fn paths_that_are_two() {
    different(
        ValueKind::Path,
        &[
            "/b",
            "b",
            "/b/",
            "/B",
            "~/b",
            "../b",
            "../../b",
            "/b.",
            "/b ",
            " /b",
            "/b\u{200b}",
            "/\u{202e}b",
            "/%62",
            "/a%2Fb",
            "/a/b",
            "/a\\b",
            "a/b",
            "/.../b",
            "/..b",
            "/b..",
            "/cafe\u{301}",
            "/caf\u{e9}",
            "/b\u{2215}c",
            "C:/b",
            "file:///b",
            "$HOME/b",
            "/*",
            "/b*",
        ],
    );
    not_of(ValueKind::Path, &["", "/b\0", "/b\n", "/\u{1b}b", &"a".repeat(4097)]);
}

#[test]
fn texts_are_one_only_in_nfc() {
    same(ValueKind::Text, &["caf\u{e9}", "cafe\u{301}"]);
    different(
        ValueKind::Text,
        &[
            "alice",
            "Alice",
            "alice ",
            " alice",
            "al ice",
            "alice\u{200b}",
            "аlice",
            "\u{ff41}lice",
            "a1ice",
            "ﬁ",
            "fi",
            "1",
            "1.0",
            "①",
            "１",
            "\u{202e}alice",
        ],
    );
}

#[test]
fn a_text_is_never_a_number_but_numbers_are_equal_by_value() {
    let number = |text: &str| Value::Number(Number::parse(text).unwrap());
    for text in ["1", "1.0", "1e0", "10E-1"] {
        assert_eq!(digest(number(text)), digest(number("1")), "{text}");
    }
    assert_ne!(digest("1".into()), digest(number("1")));
    assert_ne!(digest("1".into()), digest("1.0".into()));
    assert_ne!(digest(Value::Bool(true)), digest("true".into()));
    assert_ne!(digest(Value::Null), digest("null".into()));
    assert_ne!(digest(Value::Null), digest("".into()));
    assert_ne!(digest(Value::List(vec![])), digest(Value::Map(BTreeMap::new())));
}

fn call(arguments: &[(&str, Value)]) -> Call {
    let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    Call::new("bank/pay", arguments.collect()).unwrap()
}

fn digest(value: Value) -> actum_core::Digest {
    call(&[("x", value)]).digest()
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

#[test]
fn a_changed_call_has_another_digest() {
    let base = call(&[("payee", "alice".into()), ("note", "rent".into())]);
    let others = [
        call(&[("payee", "alicf".into()), ("note", "rent".into())]),
        call(&[("payee", "alice".into())]),
        call(&[("payee", "rent".into()), ("note", "alice".into())]),
        call(&[("payee", "alice".into()), ("note", "rent".into()), ("x", Value::Null)]),
        call(&[("payee", Value::List(vec!["alice".into()])), ("note", "rent".into())]),
        Call::new("bank/pays", base.arguments().clone()).unwrap(),
    ];
    for other in others {
        assert_ne!(other.digest(), base.digest(), "{other}");
        assert_ne!(other.to_string(), base.to_string());
    }
    // Pinned: an approval that was given must still be the same one tomorrow.
    insta::assert_snapshot!(base.digest(), @"8fb65901bf636e8d40f1ec13a20e396e3f5bc0f6430b7771143d5e25a7806b29");
}

#[test]
fn a_call_is_shown_whole_and_hides_nothing() {
    let call = call(&[
        ("payee", "DE89 3704\u{202e}0044".into()),
        ("note", "rent\n  payee = \"alice\"".into()),
        ("name", "аlice Müller".into()),
        ("pad", "alice          mallory".into()),
        ("key\n  payee", "x".into()),
        ("", Value::Null),
        (
            "many",
            Value::List(vec![Value::Bool(true), "a\u{200b}b".into(), map(&[("k v", "1".into())])]),
        ),
        ("one", Value::Number(Number::parse("1e0").unwrap())),
        ("screen", "\u{1b}[1A\u{1b}[2Kok\r\u{8}".into()),
    ]);
    insta::assert_snapshot!(call, @r#"
    bank/pay
      "" = null
      "key\n \u{20}payee" = "x"
      many = [true, "a\u{200b}b", {"k v": "1"}]
      name = "аlice Müller" (not ASCII: а U+0430, ü U+00FC)
      note = "rent\n \u{20}payee = \"alice\""
      one = 1
      pad = "alice \u{20}\u{20}\u{20}\u{20}\u{20}\u{20}\u{20}\u{20}\u{20}mallory"
      payee = "DE89 3704\u{202e}0044"
      screen = "\u{1b}[1A\u{1b}[2Kok\r\u{8}"
    "#);
}

#[test]
fn over_its_limits_nothing_is_a_call() {
    let new = |value: Value| Call::new("t", BTreeMap::from([("x".to_owned(), value)])).map(|_| ());
    let nested = |depth: usize| (0..depth).fold(Value::Null, |value, _| Value::List(vec![value]));
    assert_eq!(new(nested(VALUE_DEPTH_MAX)), Ok(()));
    assert_eq!(
        new(nested(VALUE_DEPTH_MAX + 1)),
        Err(CallError::Depth { argument: "\"x\"".into() })
    );
    assert_eq!(new(Value::List(vec![Value::Null; VALUE_NODES_MAX - 1])), Ok(()));
    assert_eq!(new(Value::List(vec![Value::Null; VALUE_NODES_MAX])), Err(CallError::Nodes));
    assert_eq!(new(Value::Text("a".repeat(VALUE_TEXT_MAX - 1))), Ok(()));
    assert_eq!(new(Value::Text("a".repeat(VALUE_TEXT_MAX))), Err(CallError::Text));
    for tool in ["", "a b", "a\n", "pаy", &"a".repeat(TOOL_NAME_MAX + 1)] {
        assert_eq!(Call::new(tool, BTreeMap::new()), Err(CallError::Tool), "{tool}");
    }
}

// Each kind against a second, naive definition.

/// The regular-expression reading of a path: rewrite until nothing changes.
fn naive_path(text: &str) -> String {
    let mut text =
        format!("{text}{}", if text.ends_with("/.") || text.ends_with("/..") { "/" } else { "" });
    if matches!(text.as_str(), "." | "..") {
        text.push('/');
    }
    while text.contains("//") {
        text = text.replace("//", "/");
    }
    let absolute = text.starts_with('/');
    loop {
        let before = text.clone();
        while text.contains("/./") {
            text = text.replace("/./", "/");
        }
        while let Some(rest) = text.strip_prefix("./") {
            text = rest.to_owned();
        }
        if absolute {
            while let Some(rest) = text.strip_prefix("/../") {
                text = format!("/{rest}");
            }
        }
        let parts: Vec<&str> = text.split_inclusive('/').collect();
        let climbs = |pair: &[&str]| {
            pair[1] == "../" && pair[0] != "../" && pair[0] != "/" && pair[0].ends_with('/')
        };
        if let Some(at) = parts.windows(2).position(climbs) {
            text = [&parts[..at], &parts[at + 2..]].concat().concat();
        }
        if text == before {
            return if text.is_empty() { "./".to_owned() } else { text };
        }
    }
}

/// Removes what the page says is removed, one rule after the other.
fn naive_email(text: &str) -> String {
    let text = match text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
        Some(inner) => inner,
        None => text,
    };
    let text = text.replace("mailto:", "").replace("MailTo:", "");
    let (local, domain) = text.split_once('@').unwrap();
    format!("{local}@{}", domain.to_ascii_lowercase())
}

fn url_text() -> impl Strategy<Value = String> {
    "(http|HTTPS|https)://(u@)?[aA]\\.b(:80|:443|:81|:)?((/(a|\\.|\\.\\.|%2[eEfF]|%41|A|é|)){0,4})(\\?(q|%71|%3D)?)?(#f)?"
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        "-?[0-9]{1,3}(\\.[0-9]{1,2})?(e[0-9])?"
            .prop_filter_map("leading zero", |text| Number::parse(&text).map(Value::Number)),
        "[ab\"\\\\ ,:{}\\[\\]\n\u{202e}\u{e9}]{0,4}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::List),
            prop::collection::btree_map("[ab\" :]{0,2}", inner, 0..3).prop_map(Value::Map),
        ]
    })
}

fn any_call() -> impl Strategy<Value = Call> {
    let arguments = prop::collection::btree_map("[ab= \n\"]{0,2}", value(), 0..3);
    ("[ab]", arguments).prop_map(|(tool, arguments)| Call::new(&tool, arguments).unwrap())
}

proptest! {
    #[test]
    fn two_calls_share_neither_digest_nor_display(a in any_call(), b in any_call()) {
        prop_assert_eq!(a.digest() == b.digest(), a == b);
        prop_assert_eq!(a.to_string() == b.to_string(), a == b);
        prop_assert_eq!(a.to_string().lines().count(), 1 + a.arguments().len());
    }

    #[test]
    fn a_shown_call_holds_no_control_or_format_characters(text in "\\PC{0,12}|.{0,12}|[\\p{Cf}\\p{Cc}\\p{Zs}]{0,8}") {
        let call = call(&[("x", Value::Text(text))]);
        let shown = call.to_string();
        for c in shown.chars().filter(|c| *c != '\n') {
            prop_assert!(c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric(), "{c:?}");
        }
    }

    #[test]
    fn normal_forms_are_normal(text in "[a-cA-C0-9 ./:@%\\-é<>]{0,16}|\\PC{0,16}", url in url_text()) {
        for kind in ValueKind::ALL {
            for text in [&text, &url] {
                if let Some(normal) = kind.normal(text) {
                    prop_assert_eq!(kind.normal(&normal), Some(normal.clone()), "{} {}", kind, text);
                }
            }
        }
    }

    #[test]
    fn paths_are_what_rewriting_makes_of_them(a in "(/|\\.|\\.\\.|a|b|/){1,8}", b in "(/|\\.\\.|\\.|a){1,8}") {
        for text in [&a, &b] {
            prop_assert_eq!(ValueKind::Path.normal(text), Some(naive_path(text)), "{}", text);
        }
    }

    #[test]
    fn mail_is_one_only_where_the_naive_reading_agrees(
        a in "(<|mailto:|MailTo:)?[aA.]{1,2}@[xX]\\.[yY]>?",
        b in "(<|mailto:|MailTo:)?[aA.]{1,2}@[xX]\\.[yY]>?",
    ) {
        let [x, y] = [&a, &b].map(|text| ValueKind::Email.normal(text));
        if x.is_some() && y.is_some() {
            prop_assert_eq!(x == y, naive_email(&a) == naive_email(&b), "{} {}", a, b);
        }
    }

    #[test]
    fn accounts_are_one_only_with_the_same_characters(a in "[aA1-3 .\\-/]{1,9}", b in "[aA1-3 .\\-/]{1,9}") {
        let [x, y] = [&a, &b].map(|text| ValueKind::Account.normal(text));
        if x.is_some() && x == y {
            let bare = |text: &str| text.replace([' ', '-', '.'], "");
            prop_assert_eq!(bare(&a), bare(&b));
        }
    }

    #[test]
    fn urls_are_one_only_where_a_decoder_agrees(a in url_text(), b in url_text()) {
        let [x, y] = [&a, &b].map(|text| ValueKind::Url.normal(text));
        if x.is_some() && x == y {
            prop_assert_eq!(naive_url(&a), naive_url(&b), "{} {}", a, b);
        }
    }
}

/// Host, port and decoded segments, by splitting alone. `%2F` is left as it is, because it is no separator.
fn naive_url(text: &str) -> (String, u16, Vec<String>, String) {
    let (scheme, rest) = text.split_once("://").unwrap();
    let (rest, tail) = rest.find(['?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let by_scheme = if scheme.eq_ignore_ascii_case("http") { 80 } else { 443 };
    let decode = |text: &str| {
        text.replace("%2e", ".")
            .replace("%2E", ".")
            .replace("%41", "A")
            .replace("%71", "q")
            .replace("%2f", "%2F")
    };
    let mut stack: Vec<String> = Vec::new();
    let path = decode(path);
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        match *segment {
            "." => {}
            ".." => drop(stack.pop()),
            other => stack.push(other.to_owned()),
        }
        if is_last && matches!(*segment, "." | "..") {
            stack.push(String::new());
        }
    }
    if stack.is_empty() {
        stack.push(String::new());
    }
    (host.to_lowercase(), port.parse().unwrap_or(by_scheme), stack, decode(tail))
}
