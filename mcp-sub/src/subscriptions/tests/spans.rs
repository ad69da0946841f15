//! What an operator sees in the log.

use std::io;

use tracing_subscriber::fmt::MakeWriter;

use super::*;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Log {
    fn of(level: tracing::Level, run: impl Future<Output = ()>) -> String {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(log.clone())
            .with_max_level(level)
            .with_ansi(false)
            .finish();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tracing::subscriber::with_default(subscriber, || runtime.block_on(run));
        let bytes = log.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }
}

const CONTEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

async fn one_that_fails() {
    let (server, mut closed) =
        server(Decide::Accept, |builder| builder.principal(|_| Some(String::from("alice@example.org"))));
    let meta = [(String::from("traceparent"), Value::from(CONTEXT))].into_iter().collect();
    let caller = Caller::new(HeaderMap::new(), Extensions::new(), meta);
    let admission = server.admit(&caller).unwrap_or_else(|rejection| panic!("{rejection}"));
    let stream = open_listen(&server, admission, Listen { caller, ..listen() }).await;
    let stream = stream.unwrap_or_else(|rejection| panic!("{rejection}"));
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Tools);
    server.publish(Event::Fail);
    assert_eq!(now(&stream).unwrap(), [TOOLS, "handler_failed"]);
    closed.recv().await;
}

#[test]
fn a_stream_has_a_span_that_says_whose_it_was_and_how_it_ended() {
    let log = Log::of(tracing::Level::DEBUG, one_that_fails());
    let failed = log.lines().find(|line| line.contains("subscription failed")).unwrap();
    for part in [
        "ERROR",
        "subscription{stream=0 id=7 principal=",
        &format!("traceparent=\"{CONTEXT}\""),
        "kinds={\"tools_list_changed\", \"resources_updated\"}",
        "uris=2",
        "reason=\"handler_failed\"",
        " open=",
        "events=2",
        "notifications=0",
        "it broke",
    ] {
        assert!(failed.contains(part), "{part} is not in {failed}");
    }
    assert!(!log.contains("alice"), "a log does not say who it is");
}

#[test]
fn who_logs_warnings_only_is_told_the_id() {
    let log = Log::of(tracing::Level::WARN, one_that_fails());
    assert!(log.contains("subscription failed id=7 reason=handler_failed: it broke"), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn no_id_writes_into_the_log() {
    let log = Log::of(tracing::Level::INFO, async {
        let (server, _closed) = server(Decide::Accept, |builder| builder);
        let id = format!("\"{}\u{2028}\u{202e}\u{9b}2J\"", "a".repeat(100));
        let long = format!("\"{}\"", "a".repeat(8000));
        for id in [id, long] {
            let id: Box<RawValue> = serde_json::from_str(&id).unwrap();
            let listen = Listen { id: RequestId::of(&id, 9000).unwrap(), ..listen() };
            let admission = server.admit(&caller()).unwrap_or_else(|rejection| panic!("{rejection}"));
            assert!(open_listen(&server, admission, listen).await.is_ok());
        }
    });
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.lines().all(|line| line.len() < 600 && line.contains("subscription ended")), "{log}");
    assert!(!log.contains(['\u{2028}', '\u{202e}', '\u{9b}']));
}

#[test]
fn who_is_refused_at_a_limit_is_logged_with_its_name() {
    let log = Log::of(tracing::Level::WARN, async {
        let (server, _closed) =
            server(Decide::Accept, |builder| builder.limits(Limits::default().with_streams(0)));
        let Err(rejection) = server.admit(&caller()) else { panic!("admitted") };
        server.refused(&rejection);
    });
    assert!(log.contains("WARN") && log.contains("refused at a limit limit=\"streams\""), "{log}");
}
