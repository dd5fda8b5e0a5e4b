//! What a test sees of a gateway, and how it waits for it.

use std::time::Duration;

use super::book::Book;
use super::handle::Gateway;
use super::requests::Call;
use super::state::State;
use super::watches::WatchView;

/// How long something is waited for before the test fails: long, because a busy machine is not a defect.
pub const PATIENCE: Duration = Duration::from_secs(60);

impl Gateway {
    pub(super) fn wait_for<A>(&self, ready: impl FnMut(&State) -> Option<A>) -> Option<A> {
        self.shared.wait(PATIENCE, ready)
    }

    /// Every watch that ever was.
    pub fn watches(&self) -> Vec<WatchView> {
        self.shared.look().watches.views().cloned().collect()
    }

    /// Every call that came, in order.
    pub fn requests(&self) -> Vec<Call> {
        self.shared.look().requests.clone()
    }

    /// What was published so far.
    pub fn book(&self) -> Book {
        self.shared.look().full_book()
    }

    /// Waits until `wanted` holds for a watch; that watch.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    #[track_caller]
    pub fn wait_watch(&self, mut wanted: impl FnMut(&WatchView) -> bool) -> WatchView {
        let found = self.wait_for(|state| state.watches.views().find(|view| wanted(view)).cloned());
        self.or_panic(found, "no watch is as wanted")
    }

    /// Waits until `count` watches of the sandbox are live.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    #[track_caller]
    pub fn wait_following(&self, name: &str, count: usize) {
        let id = self.id(name);
        let done = self.wait_for(|state| {
            let of_sandbox = |view: &&WatchView| view.sandbox_id == id && view.is_following();
            (state.watches.open().filter(of_sandbox).count() == count).then_some(())
        });
        self.or_panic(done, "not so many watches follow");
    }

    /// Waits until a watch that asked for what follows `cursor` is live; that watch.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    #[track_caller]
    pub fn wait_resumed(&self, cursor: &str) -> WatchView {
        self.wait_watch(|view| view.asked.resume_after_cursor == cursor && view.is_following())
    }

    /// Waits until the sandbox's watches, all of them together, were handed `lines` lines.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    #[track_caller]
    pub fn wait_delivered(&self, name: &str, lines: u64) {
        let id = self.id(name);
        let done = self.wait_for(|state| {
            let of_sandbox = state.watches.views().filter(|view| view.sandbox_id == id);
            let delivered: u64 = of_sandbox.map(|view| view.delivered_lines).sum();
            (delivered >= lines).then_some(())
        });
        self.or_panic(done, "not so many lines are delivered");
    }

    /// Waits until each living sandbox is watched and every open watch has been handed all there is.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    #[track_caller]
    pub fn wait_idle(&self) {
        let done = self.wait_for(|state| are_idle(state).then_some(()));
        self.or_panic(done, "the watches do not come to rest");
    }

    /// Waits until so many calls came that `wanted` holds for.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    #[track_caller]
    pub fn wait_calls(&self, count: usize, mut wanted: impl FnMut(&Call) -> bool) {
        let done = self.wait_for(|state| {
            let came = state.requests.iter().filter(|call| wanted(call)).count();
            (came >= count).then_some(())
        });
        self.or_panic(done, "not so many calls came");
    }

    #[track_caller]
    fn or_panic<A>(&self, found: Option<A>, what: &str) -> A {
        found.unwrap_or_else(|| {
            let state = self.shared.look();
            let open: Vec<&WatchView> = state.watches.open().collect();
            panic!(
                "{what} after {PATIENCE:?}; last published {:?}; open watches: {open:#?}",
                state.last_published()
            )
        })
    }
}

/// Whether everything that is published was handed to those who watch.
pub(super) fn are_idle(state: &State) -> bool {
    let mut open = state.watches.open();
    let is_watched = |id: &str| state.watches.open().any(|view| view.sandbox_id == id);
    open.all(|view| state.is_idle(view)) && state.sandboxes.iter().all(|one| is_watched(&one.id))
}
