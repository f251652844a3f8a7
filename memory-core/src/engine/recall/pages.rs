//! The calls that read a window: its pages one after the other, as far as there is room, and of a branch those of the past that it shares.

use std::sync::Arc;

use futures_util::future::try_join_all;

use crate::engine::counted::recount_long;
use crate::engine::handle::Session;
use crate::error::Result;
use crate::model::{CounterId, TokenCounter};
use crate::store::chat::{Page, Slice, View};
use crate::window::can_unfold;

use super::contents::Room;
use super::request::ContextRequest;
use super::window::{Older, Window};

/// How many pages of older rows are read at most, if calls and results without a counterpart fill the first ones.
const MORE_PAGES: usize = 4;

impl Session {
    /// Reads further pages if `room` is left for more than the first ones hold, or if the last turn begins before them.
    pub(super) async fn complete(
        &self,
        window: &mut Window,
        room: &mut Room,
        request: &ContextRequest,
        counter: &dyn TokenCounter,
    ) -> Result<()> {
        for _ in 0..MORE_PAGES {
            let Some(page) = window.lost_summary(request.budget.limit) else { break };
            let slice = self.page_for(window, &page, request).await?;
            window.find_summary(slice, counter);
        }
        for _ in 0..MORE_PAGES + window.parts() {
            while let Some(older) = window.rest_of_turn(room.left())? {
                self.extend(window, older, room, request, counter).await?;
            }
            window.keep_instructions_within(room.left())?;
            let Some(older) = window.older(room.left()) else { break };
            self.extend(window, older, room, request, counter).await?;
        }
        window.keep_instructions_within(room.left())?;
        if let Some(page) = window.folded(room.left()) {
            let slice = self.page_for(window, &page, request).await?;
            window.add_log(slice, counter);
        }
        for _ in 0..MORE_PAGES + window.parts() {
            let Some((session, page)) = window.past_behind_log(room.left()) else { break };
            self.extend(window, (Some(session), page), room, request, counter).await?;
        }
        window.keep_instructions_within(room.left())?;
        for _ in 0..MORE_PAGES + window.parts() {
            let Some((session, page)) = window.lost_past_summary(request.budget.limit) else { break };
            let slice = self.scoped().session(&session).page_for(window, &page, request).await?;
            window.find_past_summary(&session, slice);
        }
        window.finish(counter);
        Ok(())
    }

    /// Reads the instructions at the head that the first pages lack and, of a branch, the first pages of the past that it shares.
    pub(super) async fn begin(
        &self,
        window: &mut Window,
        request: &ContextRequest,
        counter: &dyn TokenCounter,
    ) -> Result<()> {
        if let Some(page) = window.head() {
            let slice = self.page_for(window, &page, request).await?;
            window.add_head(slice, counter);
        }
        let Some(link) = window.take_link() else { return Ok(()) };
        let limit = request.budget.limit;
        let reads = window.past_pages(&link, limit).into_iter().map(|pages| async move {
            let session = self.scoped().session(&pages.session);
            let read = tokio::try_join!(
                session.pinned_page(&pages.pinned, request),
                session.window_page(&pages.tail, request)
            );
            read.map(|(pinned, (tail, again))| (again, (pages, pinned, tail)))
        });
        let (again, read): (Vec<u64>, Vec<_>) = try_join_all(reads).await?.into_iter().unzip();
        window.recounted += again.into_iter().sum::<u64>();
        window.begin_past(&link, limit, read, counter);
        Ok(())
    }

    /// Reads a page of older rows into the window. The query may stand among them.
    async fn extend(
        &self,
        window: &mut Window,
        (session, page): Older,
        room: &mut Room,
        request: &ContextRequest,
        counter: &dyn TokenCounter,
    ) -> Result<()> {
        match session {
            None => {
                let slice = self.page_for(window, &page, request).await?;
                window.add_older(slice, counter);
            }
            Some(session) => {
                let slice = self.scoped().session(&session).page_for(window, &page, request).await?;
                window.add_past(slice, counter);
            }
        }
        room.leave_query_to(window);
        Ok(())
    }

    /// Reads a page of pinned rows. What is no instruction, although it has the role of one, takes no room from those that are.
    pub(super) async fn pinned_page(&self, page: &Page, request: &ContextRequest) -> Result<Slice> {
        let (mut slice, _) = self.window_page(page, request).await?;
        let Some(next) = Window::next_pinned(page, &mut slice) else { return Ok(slice) };
        let (older, _) = self.window_page(&next, request).await?;
        slice.messages.splice(..0, older.messages);
        slice.complete &= older.complete;
        Ok(slice)
    }

    /// Reads a page for a window that was begun.
    async fn page_for(&self, window: &mut Window, page: &Page, request: &ContextRequest) -> Result<Slice> {
        let (slice, again) = self.window_page(page, request).await?;
        window.recounted += again;
        Ok(slice)
    }

    /// Reads a page of the window. If the request asks for it, what stands aside in a message stands before its words, where it
    /// can. Returns too how many rows were recounted: those of other counters, where they are long. The window recounts others itself.
    pub(super) async fn window_page(&self, page: &Page, request: &ContextRequest) -> Result<(Slice, u64)> {
        let mut slice = self.read(page).await?;
        for row in slice.messages.iter_mut().filter(|_| request.asides) {
            let Some(message) = row.message.as_mut().filter(|message| can_unfold(message)) else { continue };
            let message = Arc::make_mut(message);
            message.blocks.splice(..0, std::mem::take(&mut message.aside));
            // It was counted without.
            row.counter = CounterId::UNKNOWN;
        }
        // Whether all pinned rows were read is told by the tokens that they are stored with.
        if page.view == View::Pinned {
            return Ok((slice, 0));
        }
        let again = recount_long(&mut slice.messages, &self.scoped().inner().counter).await?;
        Ok((slice, again))
    }
}
