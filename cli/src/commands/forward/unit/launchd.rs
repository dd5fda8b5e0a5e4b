//! A launchd agent.

use std::path::Path;

use super::arguments;
use super::escape::xml;

/// An agent of the user's own. launchd keeps no log of what it prints: a file would grow without bound.
pub(super) fn agent(exe: &Path, state_dir: Option<&Path>, extra_args: &[String]) -> String {
    let program = std::iter::once(exe.to_string_lossy().into_owned());
    let words: String = program
        .chain(arguments(state_dir, extra_args))
        .map(|word| format!("    <string>{}</string>\n", xml(&word)))
        .collect();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Keeps the record of this user's sandboxes. In ~/Library/LaunchAgents:
     launchctl bootstrap gui/$UID ~/Library/LaunchAgents/io.github.boundlane.plist
     `boundlane status` says how it is; launchd keeps nothing of what it prints. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>io.github.boundlane</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>10</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>Umask</key>
  <integer>63</integer>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>8192</integer>
    <key>Core</key>
    <integer>0</integer>
  </dict>
</dict>
</plist>
"#
    )
}
