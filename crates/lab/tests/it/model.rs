//! Models over both APIs: how a question is put, and which option an answer is.

use actum_lab::agent::model::{Api, Choice, Model, Settings};
use actum_lab::agent::{Ask, Asked as _, Recorded, Role, Turn};
use serde_json::json;

use crate::endpoint::NoWait;
use crate::fake::{Act, Fake, Received};

/// Both dialects.
pub(crate) const APIS: [Api; 2] = [Api::OpenAi, Api::Ollama];

pub(crate) fn yes_or_no() -> Ask {
    ask(&["no", "yes"])
}

fn ask(options: &[&str]) -> Ask {
    Ask {
        turns: vec![
            Turn::new(Role::System, "You answer questions."),
            Turn::new(Role::User, "Was it done?"),
        ],
        options: options.iter().map(|it| (*it).to_owned()).collect(),
        believes: 1,
        doubts: 0,
    }
}

/// What is recorded of one question to a server that acts so, and what the server saw.
fn asked(
    api: Api,
    choice: Choice,
    ask: &Ask,
    acts: impl Into<Vec<Act>>,
) -> (Recorded, Vec<Received>) {
    let server = Fake::new(acts);
    let settings = Settings { choice, ..Settings::new(api, server.endpoint(), "small") };
    let mut model = Model::new(settings, Box::new(NoWait)).unwrap();
    let recorded = model.ask(ask, 1 << 40 | 7).unwrap();
    (recorded, server.received())
}

fn read(choice: Choice, options: &[&str], said: &'static str) -> Option<usize> {
    asked(Api::OpenAi, choice, &ask(options), [Act::Say(said)]).0.choice
}

fn chances(choice: Choice, options: &[&str], act: Act) -> Option<Vec<u32>> {
    let both = APIS.map(|api| {
        let choice =
            if api == Api::Ollama && choice == Choice::Grammar { Choice::Plain } else { choice };
        asked(api, choice, &ask(options), [act.clone()]).0.chances_millionths
    });
    assert_eq!(both[0], both[1], "the two APIs say the same");
    both[0].clone()
}

#[test]
fn a_question_is_put_in_the_words_of_each_api() {
    let (_, received) = asked(Api::OpenAi, Choice::Plain, &yes_or_no(), [Act::Say("no")]);
    assert_eq!(received[0].path, "/v1/chat/completions");
    assert_eq!(received[0].headers["content-type"], "application/json");
    let messages = json!([
        { "role": "system", "content": "You answer questions." },
        { "role": "user", "content": "Was it done?" },
    ]);
    let body = json!({
        "model": "small", "messages": messages, "temperature": 0.7, "seed": 7, "max_tokens": 7,
        "stream": false, "logprobs": true, "top_logprobs": 20,
    });
    assert_eq!(received[0].body, body);
    let (_, received) = asked(Api::Ollama, Choice::Plain, &yes_or_no(), [Act::Say("no")]);
    assert_eq!(received[0].path, "/api/chat");
    let body = json!({
        "model": "small", "messages": messages, "stream": false, "think": false,
        "options": { "temperature": 0.7, "seed": 7, "num_predict": 7 },
        "logprobs": true, "top_logprobs": 20,
    });
    assert_eq!(received[0].body, body);
}

#[test]
fn what_is_recorded_says_which_model_was_asked_what_and_how() {
    for api in APIS {
        let ask = yes_or_no();
        let (recorded, _) = asked(api, Choice::Plain, &ask, [Act::Say("Yes.")]);
        let expected = Recorded {
            prompt: ask.digest().to_string(),
            model: "small".to_owned(),
            temperature_percent: 70,
            seed: 1 << 40 | 7,
            raw: "Yes.".to_owned(),
            choice: Some(1),
            chances_millionths: None,
            tries: 1,
            ms: recorded.ms,
        };
        assert_eq!(recorded, expected);
    }
}

#[test]
fn the_first_word_counts_whatever_its_case_and_the_punctuation_around_it() {
    let options = ["no", "yes"];
    for said in ["yes", "Yes", " YES.\n", "**Yes**, it was", "\"yes\"", "> yes!", "yes,no"] {
        assert_eq!(read(Choice::Plain, &options, said), Some(1), "{said:?}");
    }
    for said in ["nothing says so", "The answer is yes", "yesterday", "oui", "no_idea", "…"] {
        assert_eq!(read(Choice::Plain, &options, said), None, "{said:?}");
    }
    let options = ["no", "no idea", "Ja, völlig"];
    assert_eq!(read(Choice::Plain, &options, "No idea at all"), Some(1), "the longest counts");
    assert_eq!(read(Choice::Plain, &options, "No, idea"), Some(0));
    assert_eq!(read(Choice::Plain, &options, "JA, VÖLLIG!"), Some(2));
}

#[test]
fn an_answer_that_names_no_option_is_asked_for_again_with_a_seed_that_follows_from_the_first() {
    for api in APIS {
        let again = [Act::Say("Well"), Act::Say(""), Act::Say("yes")];
        let (recorded, received) = asked(api, Choice::Plain, &yes_or_no(), again.clone());
        assert_eq!((recorded.choice, recorded.tries), (Some(1), 3));
        let seed = |at: usize| {
            let body: &serde_json::Value = &received[at].body;
            body.get("seed").unwrap_or_else(|| &body["options"]["seed"]).as_u64().unwrap()
        };
        assert_eq!(seed(0), 7);
        assert!(seed(1) != seed(0) && seed(2) != seed(1) && seed(2) != seed(0));
        let (_, once_more) = asked(api, Choice::Plain, &yes_or_no(), again);
        assert_eq!(once_more[2].body, received[2].body, "the same run asks the same");
    }
}

#[test]
fn after_three_answers_that_name_no_option_none_is_chosen() {
    for api in APIS {
        let (recorded, received) = asked(api, Choice::Plain, &yes_or_no(), [Act::Say("Well…")]);
        assert_eq!((recorded.choice, recorded.tries, received.len()), (None, 3, 3));
        assert_eq!(recorded.raw, "Well…");
    }
}

#[test]
fn an_answer_is_held_to_the_options_by_a_grammar() {
    let options = ["no", "a \"b\\c\"\nd"];
    let (_, received) = asked(Api::OpenAi, Choice::Grammar, &ask(&options), [Act::Say("no")]);
    let expected = r#"root ::= "no" | "a \"b\\c\"\nd""#;
    assert_eq!(received[0].body["grammar"], expected);
}

#[test]
fn an_answer_is_held_to_the_options_by_a_schema() {
    let schema = json!({
        "type": "object",
        "properties": { "answer": { "type": "string", "enum": ["no", "yes"] } },
        "required": ["answer"],
        "additionalProperties": false,
    });
    let said = [Act::Say(r#"{ "answer" : "yes" }"#)];
    let (recorded, received) = asked(Api::OpenAi, Choice::Schema, &yes_or_no(), said.clone());
    assert_eq!(recorded.choice, Some(1));
    let named = json!({ "name": "choice", "strict": true, "schema": schema });
    let format = json!({ "type": "json_schema", "json_schema": named });
    assert_eq!(received[0].body["response_format"], format);
    let (recorded, received) = asked(Api::Ollama, Choice::Schema, &yes_or_no(), said);
    assert_eq!(recorded.choice, Some(1));
    assert_eq!(received[0].body["format"], schema);
}

#[test]
fn a_server_that_passes_over_the_schema_may_still_answer_in_a_word() {
    assert_eq!(read(Choice::Schema, &["no", "yes"], "Yes."), Some(1));
    assert_eq!(read(Choice::Schema, &["no", "yes"], r#"{"answer": "perhaps"}"#), None);
    assert_eq!(read(Choice::Schema, &["no", "yes"], r#"{"reply": "yes"}"#), None);
}

#[test]
fn ollama_is_not_asked_for_a_grammar_that_it_would_pass_over() {
    let mut settings = Settings::new(Api::Ollama, "http://127.0.0.1:1", "small");
    settings.choice = Choice::Grammar;
    let error = Model::new(settings, Box::new(NoWait)).unwrap_err();
    assert_eq!(error.to_string(), "this API takes no grammar; a schema does the same");
}

#[test]
fn the_chance_of_an_option_is_what_the_tokens_hold_that_can_only_become_it() {
    const FIRST: &[(&str, f64)] = &[
        ("no", 0.4),
        ("No", 0.1),
        (" n", 0.05),
        ("yes", 0.2),
        ("Y", 0.05),
        ("none", 0.1),
        ("", 0.02),
    ];
    let act = Act::Tokens(&[("no", FIRST), (".", &[("yes", 1.0)])]);
    let found = chances(Choice::Plain, &["no", "yes"], act.clone());
    assert_eq!(found, Some(vec![550_000, 250_000]));
    // `n` and `no` may still become either, `none` is neither.
    let found = chances(Choice::Grammar, &["no", "no idea"], act);
    assert_eq!(found, Some(vec![0, 0]));
}

#[test]
fn the_chances_are_those_of_the_token_where_the_answer_begins() {
    const OTHER: &[(&str, f64)] = &[("no", 0.1), ("yes", 0.1)];
    const HERE: &[(&str, f64)] = &[("no", 0.25), ("yes", 0.75)];
    const QUOTED: &[(&str, f64)] = &[("\"no", 0.25), (" \"yes", 0.5), ("\"", 0.25)];
    let after_a_break = Act::Tokens(&[("\n", OTHER), ("yes", HERE), ("", OTHER)]);
    let found = chances(Choice::Plain, &["no", "yes"], after_a_break);
    assert_eq!(found, Some(vec![250_000, 750_000]));
    let in_an_object = Act::Tokens(&[
        ("{\"", OTHER),
        ("answer", OTHER),
        ("\": \"", OTHER),
        ("yes", HERE),
        ("\"}", OTHER),
    ]);
    let found = chances(Choice::Schema, &["no", "yes"], in_an_object);
    assert_eq!(found, Some(vec![250_000, 750_000]));
    let with_its_mark = Act::Tokens(&[("{\"answer\":", OTHER), (" \"yes", QUOTED), ("\"}", OTHER)]);
    let found = chances(Choice::Schema, &["no", "yes"], with_its_mark);
    assert_eq!(found, Some(vec![250_000, 500_000]));
}

#[test]
fn the_chances_are_those_of_the_first_try() {
    const FIRST: &[(&str, f64)] = &[("no", 0.125), ("yes", 0.25)];
    const SECOND: &[(&str, f64)] = &[("no", 0.5), ("yes", 0.5)];
    let acts = [Act::Tokens(&[("Well", FIRST)]), Act::Tokens(&[("no", SECOND)])];
    let (recorded, _) = asked(Api::OpenAi, Choice::Plain, &yes_or_no(), acts);
    assert_eq!((recorded.choice, recorded.tries), (Some(0), 2));
    assert_eq!(recorded.chances_millionths, Some(vec![125_000, 250_000]));
}

#[test]
fn no_chances_are_recorded_where_the_server_names_none() {
    assert_eq!(chances(Choice::Plain, &["no", "yes"], Act::Say("yes")), None);
    assert_eq!(chances(Choice::Plain, &["no", "yes"], Act::Tokens(&[("yes", &[])])), None);
    let (logprobs, old) = (
        r#"{"choices": [{"message": {"content": "yes"}, "logprobs": {"tokens": ["yes"]}}]}"#,
        r#"{"message": {"content": "yes"}, "logprobs": {"tokens": ["yes"]}}"#,
    );
    for (api, body) in APIS.into_iter().zip([logprobs, old]) {
        let (recorded, _) = asked(api, Choice::Plain, &yes_or_no(), [Act::Status(200, &[], body)]);
        assert_eq!((recorded.choice, recorded.chances_millionths), (Some(1), None));
    }
}

#[test]
fn chances_are_not_asked_for_where_they_are_not_wanted() {
    for api in APIS {
        let server = Fake::new([Act::Say("no")]);
        let settings =
            Settings { logprobs: false, ..Settings::new(api, server.endpoint(), "small") };
        let mut model = Model::new(settings, Box::new(NoWait)).unwrap();
        model.ask(&yes_or_no(), 1).unwrap();
        let body = &server.received()[0].body;
        assert!(body.get("logprobs").is_none() && body.get("top_logprobs").is_none());
    }
}

#[test]
fn a_text_is_written_as_it_comes_and_held_to_nothing() {
    for api in APIS {
        let server = Fake::new([Act::Say(" The source was looked at. ")]);
        let settings = Settings {
            temperature_percent: 90,
            choice: Choice::Schema,
            ..Settings::new(api, server.endpoint(), "small")
        };
        let mut model = Model::new(settings, Box::new(NoWait)).unwrap();
        let turns = [Turn::new(Role::User, "Write one sentence.")];
        let recorded = model.write(&turns, 3).unwrap();
        assert_eq!(recorded.raw, " The source was looked at. ");
        assert_eq!((recorded.choice, recorded.chances_millionths), (None, None));
        let body = &server.received()[0].body;
        let (temperature, tokens) = match api {
            Api::OpenAi => (&body["temperature"], &body["max_tokens"]),
            Api::Ollama => (&body["options"]["temperature"], &body["options"]["num_predict"]),
        };
        assert_eq!((temperature, tokens), (&json!(0.9), &json!(60)));
        for absent in ["format", "response_format", "logprobs"] {
            assert!(body.get(absent).is_none(), "{absent}");
        }
    }
}

#[test]
fn an_answer_in_many_chunks_is_one_answer() {
    for api in APIS {
        let (recorded, _) = asked(api, Choice::Plain, &yes_or_no(), [Act::Chunks("Yes, ja", 3)]);
        assert_eq!((recorded.choice, recorded.raw.as_str()), (Some(1), "Yes, ja"));
    }
}

#[test]
fn settings_and_questions_that_cannot_be_meant_are_refused_before_anything_is_sent() {
    let server = Fake::new([Act::Say("no")]);
    let settings = |model: &str| Settings::new(Api::OpenAi, server.endpoint(), model);
    let refused = |settings| Model::new(settings, Box::new(NoWait)).unwrap_err().to_string();
    assert_eq!(refused(settings("")), "a model's name has between 1 and 256 bytes");
    assert_eq!(refused(settings(&"m".repeat(257))), "a model's name has between 1 and 256 bytes");
    let hot = Settings { temperature_percent: 201, ..settings("small") };
    assert_eq!(refused(hot), "a temperature is between 0 and 2");
    let mut model = Model::new(settings("small"), Box::new(NoWait)).unwrap();
    let mut refused = |ask: &Ask| model.ask(ask, 1).unwrap_err().to_string();
    assert!(refused(&ask(&[])).contains("between 1 and 16 options"));
    assert!(refused(&ask(&["x"; 17])).contains("between 1 and 16 options"));
    assert!(refused(&ask(&["no", " "])).contains("is no option"));
    let mut long = yes_or_no();
    long.turns[1].content = "x".repeat(256 * 1024);
    assert!(refused(&long).contains("is longer than 262144"));
    assert!(server.received().is_empty());
}
