//! `doctor`: what on this machine hides decisions or endangers the record, each with its fix.
//!
//! Facts are gathered first: files, variables, the journal's counters, and one short conversation with the
//! gateway. Each check is a function of facts. No lock is taken and nothing is written. What cannot be
//! known from here is a note that says so, never an `ok`.

use boundlane_gateway::ProcessSurroundings;

use crate::args::DoctorArgs;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::output::out::Out;

mod asking;
mod clock;
mod directory;
mod finding;
mod gateway;
mod gateway_file;
mod journal;
mod levels;
mod print;
mod settings;
mod streams;

use asking::Asked;
use finding::{Finding, Level};
use gateway_file::GatewayFile;
use settings::Settings;

/// Looks at everything; 3 when something is an error.
pub(crate) fn run(args: &DoctorArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let findings = examine(args, ctx)?;
    match args.json {
        true => out.line(&print::document(&findings, ctx.now).to_string())?,
        false => print::screen(&findings, ctx, out)?,
    }
    out.flush_now()?;
    Ok(match print::worst(&findings) {
        Level::Error => Exit::NotReady,
        _ => Exit::Done,
    })
}

/// Gathers the facts, then checks them.
fn examine(args: &DoctorArgs, ctx: &Context) -> Outcome<Vec<Finding>> {
    let machine = ProcessSurroundings;
    let directory = directory::Facts::read(ctx)?;
    let journal = journal::Facts::read(ctx)?;
    let streams = streams::of(&journal);
    let asked = Asked::ask(args, &machine)?;
    let settings = Settings {
        file: GatewayFile::find(&machine),
        is_here: asked.is_here(),
    };
    let live = asked.live();
    let mut findings = vec![gateway::reachable(&asked, !streams.is_empty())];
    findings.extend(gateway::sandboxes(&asked, &streams));
    findings.push(streams::follower(directory.follower, live));
    findings.push(settings.file());
    findings.push(levels::push(&machine));
    findings.push(levels::console(&machine, settings.log_level().as_deref()));
    findings.push(settings.json_export());
    findings.push(settings.validation_failures());
    findings.push(settings.approvals());
    findings.push(clock::check(&clock::Facts {
        newest_line: asked.newest_line(),
        recorded_ahead: streams::recorded_ahead(&streams),
    }));
    findings.extend(directory::checks(&directory));
    findings.extend(journal::checks(&journal));
    findings.push(streams::quiet(&streams));
    findings.extend(streams::cut_pushes(&streams));
    Ok(findings)
}
