//! The one writer of a connection: whoever has something to say to the client hands it over as whole lines.

use std::{io, pin::Pin};

use bytes::Bytes;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, mpsc},
};
use tokio_util::sync::CancellationToken;

/// How many messages wait to be written. What a stream has to say waits in its outbox, where it merges.
pub(super) const QUEUE: usize = 16;

pub(super) enum Outgoing {
    /// Whole lines, newlines and all.
    Lines(Bytes),
    /// Those of a stream, which says nothing more before they are written. If it was cancelled they are not.
    Frames(Bytes, Turn),
    /// One line that is too long to be held, piece by piece.
    Long(mpsc::Receiver<Bytes>),
}

/// A stream's turn: there is one.
pub(super) struct Turn {
    pub(super) cancelled: CancellationToken,
    pub(super) permit: OwnedSemaphorePermit,
}

/// Writes what is handed over, until nobody is left who could.
pub(super) async fn write<W: AsyncWrite>(
    mut writer: Pin<&mut W>,
    mut queue: mpsc::Receiver<Outgoing>,
) -> io::Result<()> {
    while let Some(outgoing) = queue.recv().await {
        match outgoing {
            Outgoing::Lines(lines) => writer.write_all(&lines).await?,
            // Asked as late as it can be: what is gathered for one write could not be taken back.
            Outgoing::Frames(_, turn) if turn.cancelled.is_cancelled() => {}
            Outgoing::Frames(frames, turn) => {
                writer.write_all(&frames).await?;
                drop(turn.permit);
            }
            Outgoing::Long(pieces) => write_long(writer.as_mut(), pieces).await?,
        }
        if queue.is_empty() {
            writer.flush().await?;
        }
    }
    writer.shutdown().await
}

/// A line that breaks off is ended all the same: what comes next is no part of it.
async fn write_long<W: AsyncWrite>(
    mut writer: Pin<&mut W>,
    mut pieces: mpsc::Receiver<Bytes>,
) -> io::Result<()> {
    let mut last = None;
    while let Some(piece) = pieces.recv().await {
        writer.write_all(&piece).await?;
        writer.flush().await?;
        last = piece.last().copied();
    }
    if last != Some(b'\n') {
        writer.write_all(b"\n").await?;
    }
    Ok(())
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use std::{pin::pin, sync::Arc};

    use tokio::sync::Semaphore;

    use super::*;

    async fn written(outgoing: Vec<Outgoing>) -> String {
        let (out, queue) = mpsc::channel(QUEUE);
        for outgoing in outgoing {
            out.try_send(outgoing).ok().unwrap();
        }
        drop(out);
        let mut written = pin!(Vec::new());
        write(written.as_mut(), queue).await.unwrap();
        String::from_utf8(written.to_vec()).unwrap()
    }

    fn turn(turns: &Arc<Semaphore>, cancelled: &CancellationToken) -> Turn {
        Turn { cancelled: cancelled.clone(), permit: turns.clone().try_acquire_owned().unwrap() }
    }

    #[tokio::test]
    async fn what_was_cancelled_meanwhile_is_not_written_and_the_turn_comes_back() {
        let (turns, kept, cancelled) =
            (Arc::new(Semaphore::new(2)), CancellationToken::new(), CancellationToken::new());
        cancelled.cancel();
        let outgoing = vec![
            Outgoing::Lines("a\n".into()),
            Outgoing::Frames("b\n".into(), turn(&turns, &cancelled)),
            Outgoing::Frames("c\n".into(), turn(&turns, &kept)),
        ];
        assert_eq!(turns.available_permits(), 0);
        assert_eq!(written(outgoing).await, "a\nc\n");
        assert_eq!(turns.available_permits(), 2);
    }

    #[tokio::test]
    async fn a_long_line_is_one_line_even_if_it_breaks_off() {
        let long = |pieces: &[&'static str]| {
            let (sender, receiver) = mpsc::channel(9);
            for piece in pieces {
                sender.try_send(Bytes::from_static(piece.as_bytes())).unwrap();
            }
            Outgoing::Long(receiver)
        };
        let outgoing = vec![
            Outgoing::Lines("a\n".into()),
            long(&["b", "b\n"]),
            Outgoing::Lines("c\n".into()),
            long(&["d"]),
            Outgoing::Lines("e\n".into()),
        ];
        assert_eq!(written(outgoing).await, "a\nbb\nc\nd\ne\n");
    }
}
