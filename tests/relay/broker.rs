//! A `nats-server` of a test's own.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard},
    thread,
};

use async_nats::{Client, ConnectOptions};
use mcp_sub::relay::{Nats, Relay, testing::contract::Scene};

pub(crate) struct Broker {
    port: u16,
    server: Mutex<Option<Server>>,
}

struct Server(Child);

impl Server {
    /// Starts it, at a port of its own choice if `port` is 0, and waits until it listens. Returns the port.
    fn start(port: u16) -> (Self, u16) {
        let asked = if port == 0 { "-1".to_owned() } else { port.to_string() };
        let mut child = Command::new("nats-server")
            .args(["--addr", "127.0.0.1", "--port", &asked])
            .stderr(Stdio::piped())
            .spawn()
            .expect("nats-server is installed (Debian: apt-get install nats-server)");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut port = port;
        for line in lines.by_ref() {
            let line = line.expect("it says what it does");
            if let Some((_, address)) = line.split_once("Listening for client connections on ") {
                port = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
            }
            if line.contains("Server is ready") {
                break;
            }
        }
        // It ends with the server.
        thread::spawn(move || lines.for_each(drop));
        (Self(child), port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGKILL.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Broker {
    pub(crate) fn start() -> Self {
        let (server, port) = Server::start(0);
        Self { port, server: Mutex::new(Some(server)) }
    }

    /// A client as an application has it.
    pub(crate) async fn client(&self) -> Client {
        self.client_with(ConnectOptions::new()).await
    }

    pub(crate) async fn client_with(&self, options: ConnectOptions) -> Client {
        let address = format!("127.0.0.1:{}", self.port);
        options.retry_on_initial_connect().connect(address).await.expect("it tries again by itself")
    }

    pub(crate) async fn relay(&self) -> Relay<Nats> {
        Relay::nats(self.client().await, "test.events")
    }

    fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().expect("nobody panics while it is held")
    }

    pub(crate) fn kill(&self) {
        self.server().take();
    }

    pub(crate) fn restart(&self) {
        self.kill();
        let (server, port) = Server::start(self.port);
        assert_eq!(port, self.port);
        *self.server() = Some(server);
    }

    /// Stops it in its tracks, or lets it go on: `STOP` or `CONT`.
    pub(crate) fn signal(&self, signal: &str) {
        let server = self.server();
        let pid = server.as_ref().expect("it runs").0.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().expect("`kill` runs").success());
    }
}

impl Scene for Broker {
    type Bus = Nats;

    async fn join(&self) -> Nats {
        Nats::new(self.client().await, "test.contract")
    }

    async fn stop(&self) {
        self.kill();
    }

    async fn start(&self) {
        self.restart();
    }
}
