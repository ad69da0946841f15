//! What a socket is set to, so that a client that stalls or vanishes costs little, and not for long.

use std::{io, time::Duration};

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// What an accepted socket is set to. The defaults suit streams that are open for long, and say little.
///
/// `mcp_sub::serve` applies them. With another server, for which the feature `sockets` is enough, they are applied to each
/// socket that it accepts; with axum:
///
/// ```
/// use axum::serve::ListenerExt;
/// use mcp_sub::SocketOptions;
///
/// # async fn serve(app: axum::Router) -> std::io::Result<()> {
/// let options = SocketOptions::default();
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
/// let listener = listener.tap_io(move |socket| _ = options.apply(socket));
/// axum::serve(listener, app).await
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketOptions {
    /// How many bytes the kernel takes before it has sent those before (`TCP_NOTSENT_LOWAT`; Linux and Android only).
    /// Default: 16 KiB, which is what a client that does not read holds of the kernel's memory. Where nothing is set, it
    /// holds up to 4 MiB. It slows nobody down: what is on its way is not counted.
    pub unsent: Option<u32>,
    /// How many bytes the kernel holds for a connection, sent or not (`SO_SNDBUF`). A client gets no more than that in
    /// each round trip, however much it could take. Default: on Linux and Android the system's, since `unsent` does
    /// better; 64 KiB elsewhere.
    pub send_buffer: Option<usize>,
    /// How long something may wait for a client that acknowledges nothing, or whose window is closed, before the
    /// connection ends (`TCP_USER_TIMEOUT`; Linux, Android and Fuchsia only). Default: 60 s. Where nothing is set, a
    /// client that vanished is waited for some 15 minutes, and one that does not read for ever.
    pub user_timeout: Option<Duration>,
    /// After how much silence the kernel asks whether a client is still there (`SO_KEEPALIVE`, `TCP_KEEPIDLE`).
    /// Default: 30 s.
    pub keep_alive: Option<Duration>,
    /// How long after a question without an answer it asks again (`TCP_KEEPINTVL`). Default: 10 s.
    pub keep_alive_interval: Duration,
    /// After how many such questions the connection ends (`TCP_KEEPCNT`); on Linux `user_timeout` decides, where it is
    /// set. Default: 3.
    pub keep_alive_retries: u32,
    /// Sends at once what there is (`TCP_NODELAY`). Default: `true`.
    pub no_delay: bool,
}

impl Default for SocketOptions {
    fn default() -> Self {
        let counts_unsent = cfg!(any(target_os = "linux", target_os = "android"));
        Self {
            unsent: Some(16 * 1024),
            send_buffer: (!counts_unsent).then_some(64 * 1024),
            user_timeout: Some(Duration::from_secs(60)),
            keep_alive: Some(Duration::from_secs(30)),
            keep_alive_interval: Duration::from_secs(10),
            keep_alive_retries: 3,
            no_delay: true,
        }
    }
}

impl SocketOptions {
    /// Sets [`unsent`](Self::unsent); `None` leaves it to the system.
    #[must_use]
    pub fn with_unsent(mut self, bytes: impl Into<Option<u32>>) -> Self {
        self.unsent = bytes.into();
        self
    }

    /// Sets [`send_buffer`](Self::send_buffer); `None` leaves it to the system.
    #[must_use]
    pub fn with_send_buffer(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.send_buffer = bytes.into();
        self
    }

    /// Sets [`user_timeout`](Self::user_timeout); `None` leaves it to the system.
    #[must_use]
    pub fn with_user_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.user_timeout = timeout.into();
        self
    }

    /// Sets [`keep_alive`](Self::keep_alive); `None` leaves it to the system.
    #[must_use]
    pub fn with_keep_alive(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.keep_alive = time.into();
        self
    }

    /// Sets [`keep_alive_interval`](Self::keep_alive_interval).
    #[must_use]
    pub fn with_keep_alive_interval(mut self, interval: Duration) -> Self {
        self.keep_alive_interval = interval;
        self
    }

    /// Sets [`keep_alive_retries`](Self::keep_alive_retries).
    #[must_use]
    pub fn with_keep_alive_retries(mut self, retries: u32) -> Self {
        self.keep_alive_retries = retries;
        self
    }

    /// Sets [`no_delay`](Self::no_delay).
    #[must_use]
    pub fn with_no_delay(mut self, no_delay: bool) -> Self {
        self.no_delay = no_delay;
        self
    }

    /// Sets a socket to all of this. What the system does not know is left out.
    ///
    /// # Errors
    ///
    /// The first that the system reports: a value that it does not take, or, on some systems, a client that has left.
    /// The socket can be used all the same.
    pub fn apply(&self, socket: &TcpStream) -> io::Result<()> {
        let socket = SockRef::from(socket);
        // All are tried: that one is not taken is no reason to do without the others.
        let mut outcome = socket.set_tcp_nodelay(self.no_delay);
        if let Some(bytes) = self.send_buffer {
            outcome = outcome.and(socket.set_send_buffer_size(bytes));
        }
        if let Some(time) = self.keep_alive {
            outcome = outcome.and(socket.set_tcp_keepalive(&self.tcp_keep_alive(time)));
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(bytes) = self.unsent {
            outcome = outcome.and(socket.set_tcp_notsent_lowat(bytes));
        }
        #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
        if let Some(timeout) = self.user_timeout {
            outcome = outcome.and(socket.set_tcp_user_timeout(Some(timeout)));
        }
        outcome
    }

    fn tcp_keep_alive(&self, time: Duration) -> TcpKeepalive {
        let keep_alive = TcpKeepalive::new().with_time(time);
        #[cfg(any(
            target_os = "linux",
            target_os = "android",
            target_os = "macos",
            target_os = "ios",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "windows",
        ))]
        let keep_alive =
            keep_alive.with_interval(self.keep_alive_interval).with_retries(self.keep_alive_retries);
        keep_alive
    }
}
