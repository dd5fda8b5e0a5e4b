//! `fsck`: checks every law on the files as they are. Reads only.

mod salvage;

use boundlane_archive::{Listing, list};
use boundlane_record::TreeSize;
use boundlane_store::{Consumer, FsckError, FsckSummary, OpenError, Reader, fsck};

use crate::archiving::unheld;
use crate::args::FsckArgs;
use crate::commands::recorded::{open_failure, open_journal, read_failure};
use crate::context::Context;
use crate::exit::{Exit, Failure, Outcome};
use crate::journal;
use crate::output::out::Out;
use crate::text::escape;

/// Threads that decode archive files.
const WORKERS: usize = 2;
/// Findings that are kept for the JSON document; all of them are counted.
const FINDINGS_MAX: usize = 1000;

/// What was found so far.
#[derive(Default)]
struct Findings {
    told: Vec<String>,
    count: u64,
}

impl Findings {
    fn add(&mut self, finding: String) {
        self.count += 1;
        if self.told.len() < FINDINGS_MAX {
            self.told.push(finding);
        }
    }
}

/// Checks journal and archive; 5 when a law does not hold.
pub(crate) fn run(args: &FsckArgs, ctx: &Context, out: &mut Out) -> Outcome {
    if let Some(into) = &args.salvage {
        return salvage::run(into, args.json, ctx, out);
    }
    let mut findings = Findings::default();
    let journal = check_journal(ctx, &mut findings)?;
    let root = journal::archive_root(ctx)?;
    let listing = list(&root);
    let files = check_archive(ctx, &listing, &mut findings)?;
    print(args.json, journal.as_ref(), files, &findings, out)?;
    match findings.count {
        0 => Ok(Exit::Done),
        count => {
            out.flush_now()?;
            let these = if count == 1 {
                "1 finding".to_owned()
            } else {
                format!("{count} findings")
            };
            Err(Failure::new(
                Exit::VerificationFailed,
                format_args!("{these}: the record is not what it should be"),
            )
            .advise("nothing was changed; keep a copy of the state directory before anything else"))
        }
    }
}

fn check_journal(ctx: &Context, findings: &mut Findings) -> Outcome<Option<FsckSummary>> {
    let dir = journal::state_dir(ctx)?;
    let total = Reader::open(&dir)
        .map_err(|error| unopened(&error))?
        .map(|reader| reader.head().map_err(read_failure))
        .transpose()?;
    let mut progress = ctx.progress_items("checking the journal", total.map(|head| head.size.0));
    fsck(
        &dir,
        &mut |finding| findings.add(finding.to_string()),
        &mut |so_far| progress.at(so_far.entries),
    )
    .map_err(|error| match error {
        FsckError::Open(error) => unopened(&error),
        FsckError::Read(error) => read_failure(error),
    })
}

/// A journal that is no journal is what this command looks for.
fn unopened(error: &OpenError) -> Failure {
    match error {
        OpenError::Damaged { path, why } => Failure::new(
            Exit::VerificationFailed,
            format_args!("`{}` is damaged: {why}", crate::context::shown(path)),
        )
        .advise("nothing was changed; the next command that writes keeps it aside and goes on with what can be read, `fsck --salvage DIR` copies that elsewhere"),
        other => open_failure(other),
    }
}

/// Every file decodes to the head that its footer states, ranges join up, and heads lie on the journal's tree.
fn check_archive(ctx: &Context, listing: &Listing, findings: &mut Findings) -> Outcome<u64> {
    for bad in &listing.bad {
        findings.add(format!("L1: `{}`: {}", bad.path.display(), bad.why));
    }
    for holding in listing.holdings() {
        for range in &holding.missing {
            findings.add(format!(
                "L1: journal {}: no archive file holds entries {} to {}",
                holding.journal,
                range.start(),
                range.end()
            ));
        }
        for path in &holding.breaks {
            findings.add(format!(
                "L9: `{}`: it does not follow the file before it",
                path.display()
            ));
        }
    }
    check_acknowledged(ctx, listing, findings)?;
    let mut progress = ctx.progress_items("checking the archive", Some(listing.files.len() as u64));
    let reader = open_journal(ctx)?;
    let mut checked = 0;
    for file in &listing.files {
        if ctx.interrupt.asked() {
            return Err(Failure::Interrupted);
        }
        match file.open().and_then(|open| open.verify(WORKERS)) {
            Ok(head) => {
                if let Some(reader) = &reader {
                    compare(reader, file, head, findings)?;
                }
            }
            Err(bad) => findings.add(format!("L9: `{}`: {}", bad.path.display(), bad.why)),
        }
        checked += 1;
        progress.at(checked);
    }
    Ok(checked)
}

/// What the archive has acknowledged has to be in it.
fn check_acknowledged(ctx: &Context, listing: &Listing, findings: &mut Findings) -> Outcome<()> {
    let Some(reader) = open_journal(ctx)? else {
        return Ok(());
    };
    let (head, totals) = (
        reader.head().map_err(read_failure)?,
        reader.totals().map_err(read_failure)?,
    );
    let word = Consumer::Archiver.word();
    let through = totals
        .acks
        .iter()
        .find(|ack| ack.consumer == word)
        .map_or(0, |ack| ack.through.0);
    for (first, last) in unheld(listing, &head.journal, TreeSize(through)) {
        findings.add(format!(
            "L1: entries {first} to {last} were archived and no file holds them; `boundlane archive` writes what the journal still has"
        ));
    }
    Ok(())
}

/// The journal's own tree at the file's end, where the journal still knows it.
fn compare(
    reader: &Reader,
    file: &boundlane_archive::ArchiveFile,
    head: boundlane_archive::Head,
    findings: &mut Findings,
) -> Outcome<()> {
    let ours = reader.head().map_err(read_failure)?;
    let known = reader.root_at(head.size).map_err(read_failure)?;
    if file.name.journal.as_str() != ours.journal {
        // No two journals begin alike: entry 1 says when and after which one.
        if known.is_some_and(|root| root == head.root) {
            findings.add(format!(
                "L9: journal {}: its entries are those of journal {} in `{}`: its id was changed",
                ours.journal,
                file.name.journal,
                file.path.display()
            ));
        }
        return Ok(());
    }
    if head.size > ours.size || known.is_some_and(|root| root != head.root) {
        findings.add(format!(
            "L9: `{}`: its tree at {} entries is not the journal's",
            file.path.display(),
            head.size
        ));
    }
    Ok(())
}

fn print(
    as_json: bool,
    journal: Option<&FsckSummary>,
    files: u64,
    findings: &Findings,
    out: &mut Out,
) -> Outcome<()> {
    if as_json {
        let journal = journal.map(|summary| {
            serde_json::json!({
                "journal": summary.journal,
                "size": summary.size.0,
                "root": summary.root.to_hex(),
                "entries": summary.entries,
                "blocks": summary.blocks,
                "streams": summary.streams,
                "pruned": summary.pruned,
            })
        });
        let document = serde_json::json!({
            "journal": journal,
            "archive_files": files,
            "findings": findings.told,
            "findings_count": findings.count,
        });
        return out.line(&document.to_string());
    }
    for finding in &findings.told {
        out.line(&escape::visible(finding))?;
    }
    match journal {
        None => out.line("no journal is here yet")?,
        Some(summary) => out.line(&format!(
            "journal {}: {} entries in {} blocks, {} streams, root {}",
            summary.journal, summary.entries, summary.blocks, summary.streams, summary.root
        ))?,
    }
    out.line(&format!("archive: {files} files read back"))?;
    if findings.count == 0 {
        out.line("every law that can be checked here holds")?;
    }
    Ok(())
}
