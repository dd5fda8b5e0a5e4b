//! `query`: questions over the archive and the journal, or over other archives.

mod answer;
mod live;

use std::sync::Arc;

use boundlane_archive::Root;
use boundlane_query::{
    Canned, Cut, Limits, Outcome as Answered, QueryError, Question, Request, run as ask,
};
use boundlane_record::Column;

use super::health;
use super::log::which::told_unknown;
use super::log::{filter, window};
use super::recorded::open_journal;
use crate::args::{Format, Limit, QueryArgs};
use crate::config::{QUERY_MEMORY_MIB_MAX, QUERY_SECONDS_MAX};
use crate::context::Context;
use crate::exit::{Exit, Failure, Outcome};
use crate::journal;
use crate::output::out::Out;
use crate::text::clock::Clock;
use crate::text::escape::visible;
use crate::time::{Utc, Zone};
use answer::Answer;
use live::Journals;

/// Columns of a listing on a terminal; other forms print all of them.
const LISTED: &[Column] = &[
    Column::time,
    Column::sandbox,
    Column::kind,
    Column::outcome,
    Column::process,
    Column::destination,
    Column::rule,
    Column::reason,
    Column::cause,
];

/// Asks, prints the answer, and says on standard error what it covers.
pub(crate) fn run(args: &QueryArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let zone: &dyn Zone = if args.output.utc {
        &Utc
    } else {
        ctx.zone.as_ref()
    };
    if !args.output.utc {
        ctx.warn_of_zone();
    }
    let request = request(args, ctx, zone)?;
    ctx.interrupt.defer();
    let clock = Clock::new(zone, ctx.now);
    let mut answer = Answer::new(args, ctx.stdout_palette, clock, is_listing(&request), out);
    let asked = ask(&request, &mut answer);
    let failed = answer.take_failure();
    let answered = match (asked, failed) {
        (_, Some(failure)) => return Err(failure),
        (Ok(answered), None) => answered,
        (Err(error), None) => return Err(refused(&error)),
    };
    let coverage = answered
        .coverage
        .as_ref()
        .map(|coverage| coverage.to_json());
    answer.finish(coverage.as_deref().unwrap_or("null"))?;
    out.flush_now()?;
    tell_unknown(&answered, args, ctx)?;
    // Other archives say nothing of this machine.
    if args.archive.is_empty() {
        health::warn_if_losing(open_journal(ctx)?.as_ref(), ctx)?;
    }
    Ok(tell(&answered, args, ctx))
}

fn is_listing(request: &Request) -> bool {
    matches!(request.question, Question::Rows { .. })
}

fn request(args: &QueryArgs, ctx: &Context, zone: &dyn Zone) -> Outcome<Request> {
    let window = window(&args.filters, ctx, zone)?;
    let sandbox = args.filters.sandbox.clone();
    let archives = match args.archive.as_slice() {
        [] => vec![journal::archive_root(ctx)?],
        named => named
            .iter()
            .map(|location| root(location))
            .collect::<Outcome<_>>()?,
    };
    let mut request = Request::new(archives, question(args)?);
    if args.archive.is_empty() {
        // A directory that cannot be read is not the same as nothing recorded.
        drop(open_journal(ctx)?);
        request.live = Some(Arc::new(Journals {
            dir: journal::state_dir(ctx)?,
            archive: journal::archive_root(ctx)?,
        }));
    }
    request.filter = filter(&args.filters, sandbox, window)?;
    request.limits = limits(args, ctx);
    request.interrupted = ctx.interrupt.flag();
    Ok(request)
}

fn root(location: &str) -> Outcome<Root> {
    let root = Root::parse(location).map_err(Failure::usage)?;
    if !root.path().is_dir() {
        return Err(Failure::failed(format_args!(
            "there is no archive at `{}`",
            visible(location)
        ))
        .advise("name the directory that holds `v=1`"));
    }
    Ok(root)
}

/// SQL, the name of a question, or a listing when nothing is asked.
fn question(args: &QueryArgs) -> Outcome<Question> {
    let Some(text) = args.question.as_deref().map(str::trim) else {
        return Ok(Question::Rows {
            columns: columns(args)?,
        });
    };
    if let Some(canned) = Canned::from_word(text) {
        return Ok(Question::Canned(canned));
    }
    if !text.contains(char::is_whitespace) {
        let names: Vec<&str> = Canned::ALL.iter().map(|canned| canned.word()).collect();
        return Err(Failure::usage(format_args!(
            "`{}` is neither SQL nor the name of a question",
            visible(text)
        ))
        .advise(format_args!("the questions are {}", names.join(", "))));
    }
    Ok(Question::Sql(text.to_owned()))
}

fn columns(args: &QueryArgs) -> Outcome<Vec<Column>> {
    let named = args.output.columns.iter().map(|name| {
        Column::from_name(name).ok_or_else(|| {
            Failure::usage(format_args!("`{}` is no column", visible(name)))
                .advise("docs/FORMATS.md lists them")
        })
    });
    let named = named.collect::<Outcome<Vec<Column>>>()?;
    match (named.is_empty(), args.output.format) {
        (true, Format::Table) => Ok(LISTED.to_vec()),
        _ => Ok(named),
    }
}

fn limits(args: &QueryArgs, ctx: &Context) -> Limits {
    let seconds = ctx.config.query_seconds_max.unwrap_or(QUERY_SECONDS_MAX);
    let mebibytes = ctx
        .config
        .query_memory_mib_max
        .unwrap_or(QUERY_MEMORY_MIB_MAX);
    let memory = args.memory_limit.unwrap_or(mebibytes << 20);
    Limits {
        memory_bytes_max: usize::try_from(memory).unwrap_or(usize::MAX),
        time_max: Some(
            args.timeout
                .unwrap_or(std::time::Duration::from_secs(seconds)),
        ),
        ..Limits::default()
    }
}

/// A name that nothing is recorded for is no quiet sandbox.
fn tell_unknown(answered: &Answered, args: &QueryArgs, ctx: &Context) -> Outcome<()> {
    let coverage = answered.coverage.as_ref();
    let is_unknown = coverage.is_some_and(|coverage| coverage.testimonies().next().is_none());
    if let Some(name) = args.filters.sandbox.as_deref().filter(|_| is_unknown) {
        let told = match args.archive.is_empty() {
            true => told_unknown(name, ctx)?,
            false => format!(
                "nothing is recorded for `{}` in these archives",
                visible(name)
            ),
        };
        ctx.note(&told);
    }
    Ok(())
}

fn refused(error: &QueryError) -> Failure {
    match error {
        QueryError::Question(_) => Failure::usage(error)
            .advise("views: decisions, events, approvals, dispatches, gaps, drops, sessions, entries; quote `from` and `to`"),
        QueryError::Failed(_) => Failure::failed(error)
            .advise("rows before it may have been printed; guard the expression: `nullif(x, 0)`, `try_cast(x AS BIGINT)`"),
        QueryError::Moving(_) => Failure::new(Exit::NotReady, error).advise("ask again"),
        QueryError::Engine(_) => Failure::failed(error)
            .advise("ask in another way; if it stays, report the question with this message"),
        QueryError::Sink(_) => Failure::failed(error),
    }
}

/// The footer, and the code to end with.
fn tell(answered: &Answered, args: &QueryArgs, ctx: &Context) -> Exit {
    if let (true, Some(sql)) = (
        ctx.verbosity > crate::context::Verbosity::Normal,
        &answered.sql,
    ) {
        ctx.note(sql);
    }
    for left_out in &answered.uncounted {
        ctx.note(&format!(
            "{}: {} counted once, by `{}`; `{}` speaks of {} decisions too",
            left_out
                .sandbox
                .as_deref()
                .unwrap_or("a sandbox without name"),
            "its decisions are",
            left_out.counted,
            left_out.source,
            left_out.decisions
        ));
    }
    let rows = match answered.rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    };
    match &answered.coverage {
        Some(coverage) => ctx.note(&format!("{rows}; {}", coverage.line())),
        None => ctx.note(&rows),
    }
    if let Some(cut) = &answered.cut {
        ctx.warn(&format!("boundlane: {cut}"));
        return match cut {
            Cut::Interrupted => Exit::Interrupted,
            Cut::Memory { .. } | Cut::Time { .. } => Exit::Incomplete,
        };
    }
    if args.require_complete && !answered.is_complete() {
        let line = answered
            .coverage
            .as_ref()
            .map(|coverage| coverage.line())
            .unwrap_or_default();
        ctx.warn(&format!("boundlane: the answer is not complete: {line}"));
        return Exit::Incomplete;
    }
    Exit::Done
}

/// How many rows of an answer are kept, and from which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    All,
    First(u64),
    Last(usize),
}

impl Keep {
    /// A listing is read from its end, an answer from its top.
    fn of(limit: Limit, is_listing: bool) -> Keep {
        match (limit, is_listing) {
            (Limit::All, _) => Keep::All,
            (Limit::Last(rows), true) => Keep::Last(rows),
            (Limit::Last(rows), false) => Keep::First(rows as u64),
        }
    }
}
