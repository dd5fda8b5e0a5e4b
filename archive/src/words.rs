//! What each column means and which values it is known to take.

use boundlane_record::{
    Action, ClassTag, Column, Disposition, DropCause, ExtentKind, Flag, GapCause, Kind, Origin,
    Outcome, SessionKind, Severity, Source, TimeFrom, Trust, UnparsedReason,
};

/// The meaning of `column` and, for closed sets, the values known to this version.
pub(crate) fn words(column: Column) -> (&'static str, Vec<&'static str>) {
    (meaning(column), values(column))
}

fn list<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().copied().map(word).collect()
}

fn values(column: Column) -> Vec<&'static str> {
    match column {
        Column::kind => list(Kind::ALL, Kind::word),
        Column::outcome => list(Outcome::ALL, Outcome::word),
        Column::action => list(Action::ALL, Action::word),
        Column::disposition => list(Disposition::ALL, Disposition::word),
        Column::severity => list(Severity::ALL, Severity::word),
        Column::class => list(ClassTag::ALL, ClassTag::caption),
        Column::class_tag => list(ClassTag::ALL, ClassTag::word),
        Column::time_from => list(TimeFrom::ALL, TimeFrom::word),
        Column::source => list(Source::ALL, Source::word),
        Column::origin => list(Origin::ALL, Origin::word),
        Column::trust => list(Trust::ALL, Trust::word),
        Column::flags => list(Flag::ALL, Flag::word),
        Column::extent => list(ExtentKind::ALL, ExtentKind::word),
        Column::cause => [
            list(GapCause::ALL, GapCause::word),
            list(DropCause::ALL, DropCause::word),
            list(SessionKind::ALL, SessionKind::word),
            list(UnparsedReason::ALL, UnparsedReason::word),
        ]
        .concat(),
        _ => Vec::new(),
    }
}

fn meaning(column: Column) -> &'static str {
    match column {
        Column::kind => "What the entry is.",
        Column::outcome => "What a decision is counted by.",
        Column::action => "OCSF action caption.",
        Column::disposition => {
            "OCSF disposition caption, only where the line prints one, or `Reset`."
        }
        Column::severity => "OCSF severity caption.",
        Column::class => "OCSF class caption.",
        Column::class_uid => "OCSF class number.",
        Column::class_tag => "The shorthand's word for the class.",
        Column::activity => "OCSF activity caption, or the word as printed.",
        Column::time => "When it happened, according to the line.",
        Column::observed => "When this program read it.",
        Column::time_from => "Where `time` came from.",
        Column::stream => "The stream within its journal; rows of one stream share it.",
        Column::sandbox => "The sandbox's name.",
        Column::sandbox_id => "The sandbox's id, where the source states one.",
        Column::workspace => "The gateway's workspace.",
        Column::source => "How the line reached us.",
        Column::origin => "Who spoke, according to the line.",
        Column::trust => "How far the source proves where a record ends.",
        Column::cursor => "The gateway's opaque resume token.",
        Column::process => "The executable, as printed.",
        Column::pid => "The process id; 0 when the gateway did not know it.",
        Column::host => "The destination's name or address, without brackets.",
        Column::port => "The destination's port.",
        Column::protocol => "The transport, where printed.",
        Column::method => "The HTTP method.",
        Column::scheme => "The URL's scheme.",
        Column::path => "The URL's path, without its query.",
        Column::destination => "The destination or URL as printed.",
        Column::rule => "The policy rule that decided; absent for `-`.",
        Column::engine => "What decided.",
        Column::reason => "Why it was denied.",
        Column::message => "The text of a line that is not about a destination.",
        Column::policy_version => "The version of the policy in force.",
        Column::policy_hash => "The hash of the policy in force.",
        Column::policy_known => "Whether the policy in force is known.",
        Column::attributes => "Other named values, a JSON object as text.",
        Column::raw => "The line as it came, redacted.",
        Column::redactions => "How many places were cut out of `raw`.",
        Column::truncated => "The line was longer than the limit; `raw` is its head.",
        Column::escaped => "Bytes that were not UTF-8 are spelled `\\xNN`, a backslash `\\\\`.",
        Column::continuation => {
            "A bare line after a prefixed one: possibly the rest of that record."
        }
        Column::flags => "Words about the record, comma-separated.",
        Column::original_bytes => "The length of the line or text before it was cut.",
        Column::digest => "Keyed digest of what was cut, lower-case hex.",
        Column::cause => "Why: of a loss, a session entry or an unparsed line.",
        Column::extent => "How certain `count` is.",
        Column::count => "How many lines or entries it stands for.",
        Column::denied => "How many of those were denials.",
        Column::from => "The last moment the stream was known to be whole.",
        Column::to => "The moment it was attached again.",
        Column::after_cursor => "The last cursor before.",
        Column::before_cursor => "The first cursor after.",
        Column::evidence => "What supports it, a JSON object as text.",
        Column::expunged => "Reserved: the leaf hash of an entry whose content was taken out.",
    }
}
