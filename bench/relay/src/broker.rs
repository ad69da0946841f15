//! A `nats-server` on loopback.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
};

pub struct Broker {
    process: Child,
    pub address: String,
}

impl Broker {
    pub fn start() -> Self {
        let mut process = Command::new("nats-server")
            .args(["--addr", "127.0.0.1", "--port", "-1"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("nats-server is installed");
        let mut lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
        let mut port = String::new();
        for line in lines.by_ref().map_while(Result::ok) {
            if line.contains("Listening for client connections") {
                port = line.rsplit(':').next().unwrap_or_default().to_owned();
            }
            if line.contains("Server is ready") {
                break;
            }
        }
        thread::spawn(move || lines.for_each(drop));
        Self { process, address: format!("127.0.0.1:{port}") }
    }

    pub async fn client(&self) -> async_nats::Client {
        async_nats::connect(&self.address).await.expect("it listens")
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
