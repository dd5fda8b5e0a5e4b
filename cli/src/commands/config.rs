//! `config`: each setting with its value and its origin.

use serde_json::{Map, Value, json};

use crate::args::ConfigArgs;
use crate::config::{QUERY_MEMORY_MIB_MAX, QUERY_SECONDS_MAX};
use crate::context::{Context, shown};
use crate::exit::{Exit, Outcome};
use crate::output::out::Out;
use crate::state_dir::From;
use crate::text::colour::Tone;
use crate::text::table::{Cell, Layout, Table};

/// Shows the settings. Patterns of `redact` are counted, not shown: they may spell a secret.
pub(crate) fn run(args: &ConfigArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let settings = settings(ctx)?;
    if args.json {
        let document: Map<String, Value> = settings
            .into_iter()
            .map(|(name, value, from)| {
                (
                    name.to_owned(),
                    json!({ "value": value, "from": from.to_string() }),
                )
            })
            .collect();
        out.line(&json!({ "file": file(ctx), "settings": document }).to_string())?;
        return Ok(Exit::Done);
    }
    let layout = Layout::new(&["setting", "value", "from"]);
    let mut table = Table::new(layout, ctx.stdout_palette, true);
    for (name, value, from) in settings {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let cells = vec![
            Cell::plain(name),
            Cell::plain(value),
            Cell::new(Tone::Dim, from.to_string()),
        ];
        table.row(cells, out)?;
    }
    table.finish(out)?;
    match &ctx.config.path {
        Some(path) if ctx.config.found => ctx.note(&format!("file: {}", shown(path))),
        Some(path) => ctx.note(&format!("file: {} (not there)", shown(path))),
        None => ctx.note("file: none, `HOME` is not set"),
    }
    Ok(Exit::Done)
}

type Setting = (&'static str, Value, From);

fn settings(ctx: &Context) -> Outcome<Vec<Setting>> {
    let state_dir = ctx.state_dir()?;
    let archive = ctx.archive_root()?;
    let config = &ctx.config;
    let patterns = match config.redact.as_deref() {
        None => Value::from("built-in shapes"),
        Some(patterns) => Value::from(format!("built-in shapes and {} more", patterns.len())),
    };
    let number = |set: Option<u64>, default: u64| Value::from(set.unwrap_or(default));
    let from = |is_set: bool| if is_set { From::File } else { From::Default };
    let bounds = config.limits().all().into_iter().map(|(name, _, value)| {
        let is_set = config.bounds.contains_key(name);
        (name, Value::from(value), from(is_set))
    });
    let mut settings = vec![
        (
            "state_dir",
            Value::from(shown(&state_dir.path)),
            state_dir.from.clone(),
        ),
        (
            "archive_dir",
            Value::from(shown(&archive.path)),
            archive.from,
        ),
        ("redact", patterns, from(config.redact.is_some())),
        (
            "query_memory_mib_max",
            number(config.query_memory_mib_max, QUERY_MEMORY_MIB_MAX),
            from(config.query_memory_mib_max.is_some()),
        ),
        (
            "query_seconds_max",
            number(config.query_seconds_max, QUERY_SECONDS_MAX),
            from(config.query_seconds_max.is_some()),
        ),
    ];
    settings.extend(bounds);
    Ok(settings)
}

fn file(ctx: &Context) -> Value {
    let path = ctx.config.path.as_deref().map(shown);
    json!({ "path": path, "found": ctx.config.found })
}
