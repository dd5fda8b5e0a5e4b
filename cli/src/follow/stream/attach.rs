//! Attaching: to the right sandbox, at the right line.

use boundlane_gateway::{Generation, Watch};
use boundlane_ingest::watch::{Next, Snapshot, StreamEnd, TAIL_LINES, WatchFrom};
use boundlane_record::Fingerprint;

use super::Stream;
use crate::context::wall_clock;
use crate::follow::sessions;

impl Stream {
    /// Attaches where the stored place says.
    ///
    /// # Errors
    /// What to do instead.
    pub(super) async fn attach(&mut self) -> Result<Watch, Next> {
        let client = self.shared.client.clone();
        let health = client
            .health()
            .await
            .map_err(|error| self.follow.ended(StreamEnd::from(&error), wall_clock()))?;
        let snapshot = match health.generation {
            Generation::Old => {
                self.follow.without_cursors();
                Some(self.snapshot().await?)
            }
            Generation::New => {
                self.ask_who().await?;
                None
            }
        };
        let from = self.follow.attach_from();
        let watch = client
            .watch(&self.sandbox, &from)
            .await
            .map_err(|end| self.follow.ended(end, wall_clock()))?;
        self.follow.attached(wall_clock(), snapshot);
        let is_repair = std::mem::take(&mut self.is_repair);
        self.announce = (!is_repair).then(|| {
            sessions::attached(&client.identity(), health.generation, &self.sandbox, &from)
        });
        self.proof.attached();
        Ok(watch)
    }

    /// A gateway that takes names could attach us to another sandbox of the same name.
    async fn ask_who(&mut self) -> Result<(), Next> {
        match self.shared.client.refresh(&self.sandbox).await {
            Ok(Some(found)) if found.id == self.sandbox.id => Ok(()),
            Ok(_) => Err(self.follow.ended(StreamEnd::NotFound, wall_clock())),
            Err(error) => Err(self.follow.ended(StreamEnd::from(&error), wall_clock())),
        }
    }

    /// The lines held now, for gateways without cursors.
    async fn snapshot(&mut self) -> Result<Snapshot, Next> {
        let lines = match self.follow.attach_from() {
            WatchFrom::Tail(lines) => lines,
            WatchFrom::After(_) => TAIL_LINES,
        };
        let asked = self.shared.client.snapshot(&self.sandbox, lines).await;
        match asked {
            Ok(snapshot) => {
                let key = &self.shared.key;
                let prints = snapshot
                    .lines
                    .iter()
                    .map(|line| line.fingerprint(&line.text(), key));
                Ok(Snapshot(prints.collect::<Vec<Fingerprint>>()))
            }
            Err(error) => Err(self.follow.ended(StreamEnd::from(&error), wall_clock())),
        }
    }
}
