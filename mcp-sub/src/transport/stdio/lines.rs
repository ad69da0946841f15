//! Lines of any length, in memory of a fixed size.

use std::{future::pending, io, pin::Pin};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read at once, at least.
const READ: usize = 8 * 1024;

/// Reads lines. At the end of the input, what is left is one as well.
pub(super) struct Lines<'r, R> {
    reader: Pin<&'r mut R>,
    limit: usize,
    read: BytesMut,
    /// How much of it is known to have no newline.
    searched: usize,
    /// What comes next belongs to a line that is too long.
    in_long: bool,
    /// There is nothing more to read, for that reason.
    end: Option<io::Result<()>>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// Without its newline.
    Whole(Bytes),
    /// It is longer than the limit: [`Lines::piece`] has it. What is not asked for is skipped.
    Long,
}

impl<'r, R: AsyncRead> Lines<'r, R> {
    /// Lines of at most `limit` bytes are whole.
    pub(super) fn new(reader: Pin<&'r mut R>, limit: usize) -> Self {
        Self { reader, limit, read: BytesMut::new(), searched: 0, in_long: false, end: None }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The next line; `None` at the end of the input.
    ///
    /// Cancel safe: what was read stays.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        while self.piece().await?.is_some() {}
        loop {
            if let Some(at) = self.newline() {
                if at > self.limit {
                    self.in_long = true;
                    return Ok(Some(Line::Long));
                }
                let mut line = self.take(at + 1);
                line.truncate(at);
                return Ok(Some(Line::Whole(line)));
            }
            if self.read.len() > self.limit {
                self.in_long = true;
                return Ok(Some(Line::Long));
            }
            if !self.fill().await {
                self.failure()?;
                let rest = self.take(self.read.len());
                return Ok((!rest.is_empty()).then_some(Line::Whole(rest)));
            }
        }
    }

    /// The next bytes of a long line, at last its newline; `None` after that, or if it ends without one.
    ///
    /// Cancel safe: what was read stays.
    pub(super) async fn piece(&mut self) -> io::Result<Option<Bytes>> {
        if !self.in_long {
            return Ok(None);
        }
        if self.read.is_empty() && !self.fill().await {
            self.in_long = false;
            self.failure()?;
            return Ok(None);
        }
        let newline = self.newline();
        self.in_long = newline.is_none();
        Ok(Some(self.take(newline.map_or(self.read.len(), |at| at + 1))))
    }

    fn newline(&mut self) -> Option<usize> {
        let found = self.read[self.searched..].iter().position(|&byte| byte == b'\n');
        let newline = found.map(|at| self.searched + at);
        self.searched = newline.unwrap_or(self.read.len());
        newline
    }

    fn take(&mut self, bytes: usize) -> Bytes {
        self.searched = 0;
        self.read.split_to(bytes).freeze()
    }

    /// Waits for the end of the input, and holds what comes before. That is as much as a line may have: whether the input
    /// of one who writes more has ended is not known before some of it is taken.
    ///
    /// Cancel safe: what was read stays.
    pub(super) async fn ended(&mut self) {
        while self.read.len() <= self.limit {
            if !self.fill().await {
                return;
            }
        }
        pending::<()>().await;
    }

    /// Whether there was more to read. After the end nobody is asked again: a terminal would wait for another one.
    async fn fill(&mut self) -> bool {
        if self.end.is_none() {
            self.read.reserve(READ);
            match self.reader.read_buf(&mut self.read).await {
                Ok(0) => self.end = Some(Ok(())),
                Ok(_) => return true,
                Err(error) => self.end = Some(Err(error)),
            }
        }
        false
    }

    /// What reading has failed with, once.
    fn failure(&mut self) -> io::Result<()> {
        self.end.as_mut().map_or(Ok(()), |end| std::mem::replace(end, Ok(())))
    }
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use std::pin::pin;

    use tokio::io::ReadBuf;

    use super::*;

    /// Gives one byte at a time, or all at once.
    struct Input<'a>(&'a [u8], usize);
    impl AsyncRead for Input<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            let (now, later) = self.0.split_at(self.1.min(self.0.len()).min(buf.remaining()));
            buf.put_slice(now);
            self.0 = later;
            std::task::Poll::Ready(Ok(()))
        }
    }

    /// Each line; a long one as `…` and, if `pieces` are asked for, its bytes.
    async fn lines(input: &[u8], pieces: bool) -> Vec<String> {
        let mut seen = Vec::new();
        for at_once in [1, 3, usize::MAX] {
            let reader = pin!(Input(input, at_once));
            let (mut lines, mut these) = (Lines::new(reader, 4), Vec::new());
            while let Some(line) = lines.next().await.unwrap() {
                these.push(match line {
                    Line::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
                    Line::Long => {
                        let mut text = String::from("…");
                        while pieces && let Some(piece) = lines.piece().await.unwrap() {
                            text += std::str::from_utf8(&piece).unwrap();
                        }
                        text
                    }
                });
            }
            seen.push(these);
        }
        assert!(seen.iter().all(|these| *these == seen[0]), "{seen:?}");
        seen.swap_remove(0)
    }

    #[tokio::test]
    async fn lines_are_the_same_however_they_come() {
        assert_eq!(lines(b"a\n\nbcde\r", true).await, ["a", "", "…bcde\r"]);
        assert_eq!(lines(b"a\nbcd\r\n", true).await, ["a", "bcd\r"]);
        assert!(lines(b"", true).await.is_empty());
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_or_taken_in_pieces() {
        assert_eq!(lines(b"abcd\nabcde\nx\n", false).await, ["abcd", "…", "x"]);
        assert_eq!(lines(b"abcdefghijk\nx", true).await, ["…abcdefghijk\n", "x"]);
        assert_eq!(lines(b"x\nabcdefghijk", true).await, ["x", "…abcdefghijk"]);
    }

    #[tokio::test]
    async fn the_end_is_seen_from_afar_and_what_comes_before_it_stays() {
        let reader = pin!(Input(b"a\nb\nc", 2));
        let mut lines = Lines::new(reader, 4);
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole("a".into())));
        lines.ended().await;
        lines.ended().await;
        for line in ["b", "c"] {
            assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(line.into())));
        }
        assert_eq!(lines.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn no_more_is_read_ahead_than_a_line_may_have() {
        let input = vec![b'\n'; 1 << 20];
        let reader = pin!(Input(&input, 1000));
        let mut lines = Lines::new(reader, 4096);
        let mut ended = Box::pin(lines.ended());
        let waker = std::task::Waker::noop();
        for _ in 0..100 {
            assert!(ended.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        }
        drop(ended);
        assert!(lines.read.len() <= 4096 + 1000, "{}", lines.read.len());
    }

    /// Fails when its input is used up.
    struct Broken<'a>(Input<'a>);
    impl AsyncRead for Broken<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            if self.0.0.is_empty() {
                return std::task::Poll::Ready(Err(io::Error::other("broken")));
            }
            Pin::new(&mut self.0).poll_read(cx, buf)
        }
    }

    #[tokio::test]
    async fn what_fails_does_so_after_the_lines_before_and_gives_no_half_line() {
        let reader = pin!(Broken(Input(b"a\nb\nc", 9)));
        let mut lines = Lines::new(reader, 9);
        lines.ended().await;
        for line in ["a", "b"] {
            assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(line.into())));
        }
        assert_eq!(lines.next().await.unwrap_err().to_string(), "broken");
    }

    #[tokio::test]
    async fn a_long_line_is_never_held_whole() {
        let input = vec![b'x'; 1 << 20];
        let reader = pin!(Input(&input, 1000));
        let mut lines = Lines::new(reader, 4096);
        assert_eq!(lines.next().await.unwrap(), Some(Line::Long));
        assert_eq!(lines.next().await.unwrap(), None);
        assert!(lines.read.capacity() < 64 * 1024, "{}", lines.read.capacity());
    }
}
