//! `forward --metrics`: what a collector and a probe are told.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use boundlane_tests::gateway::{Gateway, Line, PATIENCE, Settings};
use boundlane_tests::{Home, repository};

use crate::support::{Running, numbered, recorded, sandbox};

/// An answer: its code, its head and its body.
struct Answer {
    code: u16,
    head: String,
    body: String,
}

/// A program that follows everything, and where it answers.
fn forward(home: &Home, gateway: &Gateway) -> (Running, SocketAddr) {
    let options = ["--all", "--metrics", "127.0.0.1:0"];
    let mut forward = Running::forward(home, gateway, &options);
    let said = forward.until_said("metrics are at http://");
    let address = said.split("http://").nth(1).unwrap();
    let address = address.strip_suffix("/metrics").unwrap().parse().unwrap();
    (forward, address)
}

/// Sends these bytes and reads the answer to its end.
fn send(address: SocketAddr, request: &str) -> Answer {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // What was not read of a refused request resets the connection behind the answer.
    if let Err(error) = socket.read_to_end(&mut bytes) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
    }
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    Answer {
        code: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

fn get(address: SocketAddr, path: &str) -> Answer {
    send(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
}

/// A name as it is served or documented: its type, its labels, what is said of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Family {
    of: String,
    labels: Vec<String>,
    help: String,
}

/// What is served: families, and each sample's number by its name and labels.
#[derive(Default)]
struct Scrape {
    families: BTreeMap<String, Family>,
    samples: BTreeMap<String, f64>,
}

impl Scrape {
    fn of(address: SocketAddr) -> Scrape {
        let answer = get(address, "/metrics");
        assert_eq!(answer.code, 200, "{}", answer.body);
        let content = "content-type: text/plain; version=0.0.4; charset=utf-8";
        assert!(
            answer.head.lines().any(|line| line == content),
            "{}",
            answer.head
        );
        Scrape::parse(&answer.body)
    }

    /// Reads every line by the grammar of the format; a line that breaks it fails.
    #[track_caller]
    fn parse(text: &str) -> Scrape {
        assert!(text.ends_with('\n'));
        let mut scrape = Scrape::default();
        let mut current = String::new();
        for line in text.lines() {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            match words[..] {
                ["#", "HELP", name, help] => {
                    assert!(!scrape.families.contains_key(name), "{name} comes twice");
                    assert!(!help.contains('\\'), "{line}");
                    name.clone_into(&mut current);
                    let family = scrape.families.entry(current.clone()).or_default();
                    help.clone_into(&mut family.help);
                }
                ["#", "TYPE", name, of] => {
                    assert_eq!(name, current, "HELP and TYPE are apart");
                    assert!(["counter", "gauge"].contains(&of), "{line}");
                    of.clone_into(&mut scrape.families.get_mut(name).unwrap().of);
                }
                _ => scrape.sample(line, &current),
            }
        }
        scrape
    }

    #[track_caller]
    fn sample(&mut self, line: &str, current: &str) {
        let (series, number) = line.rsplit_once(' ').unwrap();
        let number: f64 = number.parse().unwrap();
        assert!(number.is_finite() && number >= 0.0, "{line}");
        let (name, labels) = match series.split_once('{') {
            Some((name, rest)) => (name, rest.strip_suffix('}').unwrap()),
            None => (series, ""),
        };
        assert_eq!(name, current, "a sample outside its family");
        let mut names = Vec::new();
        for label in labels.split(',').filter(|label| !label.is_empty()) {
            let (label, value) = label.split_once("=\"").unwrap();
            let value = value.strip_suffix('"').unwrap();
            let is_word = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            assert!(!value.is_empty() && value.chars().all(is_word), "{line}");
            names.push(label.to_owned());
        }
        let family = self.families.get_mut(name).unwrap();
        assert!(family.labels.is_empty() || family.labels == names, "{line}");
        family.labels = names;
        let before = self.samples.insert(series.to_owned(), number);
        assert_eq!(before, None, "{series} comes twice");
    }

    #[track_caller]
    fn value(&self, series: &str) -> f64 {
        *self
            .samples
            .get(series)
            .unwrap_or_else(|| panic!("no {series}"))
    }
}

fn page() -> String {
    std::fs::read_to_string(repository("docs/METRICS.md")).unwrap()
}

/// The table of `docs/METRICS.md`.
fn documented() -> BTreeMap<String, Family> {
    let page = page();
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `boundlane_"));
    let family = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, of, labels, help] = cells[..] else {
            panic!("{row}");
        };
        let family = Family {
            of: of.to_owned(),
            labels: labels
                .split_whitespace()
                .map(|label| label.trim_matches('`').to_owned())
                .collect(),
            help: help.to_owned(),
        };
        (name.trim_matches('`').to_owned(), family)
    };
    rows.map(family).collect()
}

/// Every name, type, label and help that is served is documented, and the other way round.
#[test]
fn a_name_is_not_what_the_documentation_says() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let (mut forward, address) = forward(&home, &gateway);
    gateway.publish("demo", (0..10).map(numbered));
    forward.until_recorded(&home, "demo", 10);
    let served = Scrape::of(address).families;
    let documented = documented();
    let names = |families: &BTreeMap<String, Family>| families.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&served), names(&documented));
    for (name, family) in &documented {
        assert_eq!(&served[name], family, "{name}");
        assert!(name.starts_with("boundlane_"), "{name}");
        assert_eq!(name.ends_with("_total"), family.of == "counter", "{name}");
    }
    assert!(served.len() > 40, "the table was not found");
    // The rules and the advice speak of no other names.
    let page = page();
    let words = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for word in words.filter(|word| word.starts_with("boundlane_")) {
        assert!(documented.contains_key(word), "{word}");
    }
    assert_eq!(page.matches("- alert: Boundlane").count(), 5);
    forward.end();
}

/// Counters are the journal's: a run that begins anew goes on where the last one was.
#[test]
fn a_restart_begins_to_count_anew() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let counted = |count: usize| {
        let (mut forward, address) = forward(&home, &gateway);
        gateway.wait_following("demo", 1);
        let first = count - 10;
        gateway.publish("demo", (first..count).map(numbered));
        forward.until_recorded(&home, "demo", count);
        let scrape = Scrape::of(address);
        let attached = forward.until("attached", || {
            let scrape = Scrape::of(address);
            (scrape.value("boundlane_sandboxes_attached") == 1.0).then_some(scrape)
        });
        assert_eq!(attached.value("boundlane_gateway_up"), 1.0);
        assert_eq!(attached.value("boundlane_sandboxes"), 1.0);
        assert_eq!(attached.value("boundlane_sandboxes_selected"), 1.0);
        forward.end();
        scrape
    };
    let allowed = "boundlane_entries_total{kind=\"decision\",outcome=\"allowed\"}";
    let (first, second) = (counted(10), counted(20));
    assert_eq!((first.value(allowed), second.value(allowed)), (10.0, 20.0));
    let lines = "boundlane_lines_read_total";
    assert!(second.value(lines) >= first.value(lines) + 10.0);
    assert_eq!(second.value("boundlane_books_balanced"), 1.0);
    let books = home.run(["status", "--json"]).ok().json();
    let read = books["journal"]["books"]["lines_read"].as_f64().unwrap();
    assert!(read >= second.value(lines));
}

/// `/healthz` says the word: 200 while nothing is lost, 503 once something is; and no text of a sandbox,
/// whatever it is called, is in any answer.
#[test]
fn a_probe_is_told_another_word() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "secret-name");
    let (mut forward, address) = forward(&home, &gateway);
    gateway.wait_following("secret-name", 1);
    gateway.publish("secret-name", (0..10).map(numbered));
    forward.until_recorded(&home, "secret-name", 10);
    let told = |word: &str| {
        let answer = get(address, "/healthz");
        let is_told = answer.body.starts_with(word);
        is_told.then_some((answer.code, answer.body))
    };
    let (code, _) = forward.until("healthy", || told("healthy: "));
    assert_eq!(code, 200);
    gateway.stop();
    let (code, body) = forward.until("degraded", || told("degraded: no gateway"));
    assert_eq!(code, 200, "{body}");
    assert_eq!(Scrape::of(address).value("boundlane_gateway_up"), 0.0);
    // Another numbering: what was said before it is not known.
    gateway.start_again(None);
    gateway.wait_following("secret-name", 1);
    gateway.publish("secret-name", (10..20).map(numbered));
    let (code, body) = forward.until("losing", || told("losing: 1 gap"));
    assert_eq!(code, 503, "{body}");
    let scrape = Scrape::of(address);
    assert_eq!(scrape.value("boundlane_health{word=\"losing\"}"), 1.0);
    let lost = "boundlane_losses_total{kind=\"gap\",cause=\"space_changed\"}";
    assert_eq!(scrape.value(lost), 1.0);
    for path in ["/metrics", "/healthz"] {
        let text = get(address, path).body;
        assert!(!text.contains("secret-name") && !text.contains("example.net"));
    }
    forward.end();
    let quiet = home.run(["-q", "log", "secret-name"]).ok();
    assert!(!quiet.stderr().contains("losing"), "{}", quiet.stderr());
    let told = home.run(["log", "secret-name"]).ok();
    assert!(told.stderr().contains("losing: 1 gap"), "{}", told.stderr());
    assert!(!recorded(&home, "secret-name").is_empty());
}

/// Whoever sends something else is refused, and whoever sends nothing keeps nobody waiting.
#[test]
fn a_strange_client_stops_the_answers() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let (mut forward, address) = forward(&home, &gateway);
    forward.until_said("answers");
    assert_eq!(get(address, "/").code, 404);
    assert_eq!(get(address, "/metrics/../etc").code, 404);
    assert_eq!(get(address, "/metrics?format=x").code, 200);
    for method in ["POST", "HEAD", "DELETE"] {
        let request = format!("{method} /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        let refused = send(address, &request);
        assert_eq!(refused.code, 405, "{method}");
        assert!(refused.head.contains("allow: get"), "{}", refused.head);
    }
    assert_eq!(send(address, "hello\r\n\r\n").code, 400);
    let long = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n",
        "x".repeat(20_000)
    );
    assert_eq!(send(address, &long).code, 431);
    // One request a connection, and more silent ones than are taken at a time.
    let silent: Vec<TcpStream> = (0..12)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    assert_eq!(get(address, "/metrics").code, 200);
    drop(silent);
    gateway.publish("demo", [Line::tracing("INFO", "x", "y")]);
    gateway.publish("demo", (0..10).map(numbered));
    forward.until_recorded(&home, "demo", 10);
    forward.end();
}

/// An address that is taken is said to be, before anything is followed.
#[test]
fn a_taken_address_is_passed_over() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["forward", "--all", "--metrics", &address];
    let refused = crate::support::run(&home, &gateway, arguments).ended_with(3);
    assert!(refused.stderr().contains(&address), "{}", refused.stderr());
    let open = ["forward", "--all", "--metrics", "0.0.0.0:0"];
    let refused = crate::support::run(&home, &gateway, open).ended_with(2);
    assert!(
        refused.stderr().contains("loopback"),
        "{}",
        refused.stderr()
    );
}
