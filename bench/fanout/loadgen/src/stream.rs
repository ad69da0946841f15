//! One listen stream, from the connection to its end.

use std::{cell::RefCell, future, io, net::Ipv4Addr, rc::Rc};

use bench_trigger::now;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
};

use crate::{
    message::{self, Checker, Message},
    shared::Shared,
    sse::Decoder,
};

/// One address has some 28,000 ports to connect from, and finding a free one becomes slow from a third of them on. So many
/// connections use one, then comes the next.
const PER_ADDRESS: usize = 5000;

thread_local! {
    /// What was read is consumed before anything else is, so that all streams share one buffer.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; 256 * 1024]);
}

/// Opens the stream with this index, and reads it until it ends.
pub async fn run(shared: Rc<Shared>, index: usize) {
    if let Err(what) = open_and_read(&shared, index).await {
        shared.fault(what);
    }
    shared.has_ended();
}

async fn open_and_read(shared: &Shared, index: usize) -> Result<(), String> {
    let failed = |error: io::Error| error.kind().to_string();
    let permit = shared.opening.acquire().await.map_err(|_| "closed")?;
    let mut socket = connect(shared, index).await.map_err(|error| format!("no connection: {error}"))?;
    let options = &shared.options;
    let filter = options.filter.of_stream(index, options.streams);
    let id = index as u64 + 1;
    let request = message::listen(options.port, id, &filter);
    socket.write_all(&request).await.map_err(failed)?;

    let mut stream = Stream { index, decoder: Decoder::new(), checker: Checker::new(id, filter) };
    let mut permit = Some(permit);
    loop {
        socket.readable().await.map_err(failed)?;
        let acknowledged = BUFFER.with_borrow_mut(|buffer| match socket.try_read(buffer) {
            Ok(0) => Err("the connection was closed".to_owned()),
            Ok(length) => stream.read(shared, &buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(failed(error)),
        })?;
        if acknowledged {
            permit.take();
            if options.stalls(index) {
                // The connection stays, and nobody reads it.
                future::pending::<()>().await;
            }
        }
    }
}

async fn connect(shared: &Shared, index: usize) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let host = u8::try_from(1 + index / PER_ADDRESS).map_err(|_| io::Error::other("too many streams"))?;
    socket.bind((Ipv4Addr::new(127, 0, 0, host), 0).into())?;
    if shared.options.stalls(index) {
        // What the server has no room for is to be seen there, not here.
        socket.set_recv_buffer_size(4096)?;
    }
    let socket = socket.connect((Ipv4Addr::LOCALHOST, shared.options.port).into()).await?;
    socket.set_nodelay(true)?;
    // Thousands of connections that are closed leave nothing behind that waits.
    socket.set_zero_linger()?;
    Ok(socket)
}

struct Stream {
    index: usize,
    decoder: Decoder,
    checker: Checker,
}

impl Stream {
    /// Takes what was read. Whether the acknowledgement was in it; an error is the end of the stream.
    fn read(&mut self, shared: &Shared, input: &[u8]) -> Result<bool, String> {
        let now = now();
        let (mut acknowledged, mut ended) = (false, None);
        {
            let mut phase = shared.phase.borrow_mut();
            phase.reads += 1;
            phase.bytes += input.len() as u64;
        }
        let body_ended = self.decoder.feed(input, &mut |data| match self.checker.check(data) {
            Ok(Message::Acknowledged) => {
                acknowledged = true;
                shared.acknowledged.set(shared.acknowledged.get() + 1);
                shared.progress.notify_one();
            }
            Ok(Message::Changed) if shared.options.stalls(self.index) => {}
            Ok(Message::Changed) => shared.arrived(self.index, now),
            Ok(Message::Result) => ended = Some("the server ended a stream with its result".to_owned()),
            Err(what) => ended = Some(what),
        })?;
        if body_ended && ended.is_none() {
            ended = Some("the server ended a stream without a result".to_owned());
        }
        ended.map_or(Ok(acknowledged), Err)
    }
}
