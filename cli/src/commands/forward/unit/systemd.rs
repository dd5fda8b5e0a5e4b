//! systemd units.

use std::path::Path;

use super::arguments;
use super::escape::{systemd_argument, systemd_path, systemd_program};

/// A unit of the user's own manager. Most of what hardens the system's unit needs user namespaces there,
/// which many distributions refuse to users: the unit would not start.
pub(super) fn user(exe: &Path, state_dir: Option<&Path>, extra_args: &[String]) -> String {
    let start = command_line(exe, state_dir, extra_args);
    format!(
        "\
# Keeps the record of this user's sandboxes.
#   systemctl --user enable --now boundlane
#   loginctl enable-linger        to go on when nobody is logged in
# `--metrics 127.0.0.1:9709` behind `forward` answers Prometheus and probes: docs/METRICS.md.

[Unit]
Description=The record of what AI agents were allowed and denied
Documentation=https://github.com/boundlane/boundlane/blob/main/docs/OPERATING.md
# A gateway that is not there yet is waited for: nothing has to be started first.
StartLimitIntervalSec=0

[Service]
ExecStart={start}
ExecReload=/bin/kill -HUP $MAINPID
{RESTART}
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
SystemCallArchitectures=native
{LIMITS}

[Install]
WantedBy=default.target
"
    )
}

/// A unit of the system's manager, as a user of its own.
pub(super) fn system(exe: &Path, state_dir: Option<&Path>, extra_args: &[String]) -> String {
    let start = command_line(exe, state_dir, extra_args);
    let state = state(state_dir);
    format!(
        "\
# Keeps the record of a gateway that runs for everyone on this machine.
#   useradd --system --no-create-home --shell /usr/sbin/nologin boundlane
#   systemctl enable --now boundlane
# Reads /etc/boundlane/config.toml, and of the gateway /etc/openshell: active_gateway and
# gateways/NAME/metadata.json with mtls/ beside it, which the group boundlane must be able to read.
# `--metrics 127.0.0.1:9709` behind `forward` answers Prometheus and probes: docs/METRICS.md.

[Unit]
Description=The record of what AI agents were allowed and denied
Documentation=https://github.com/boundlane/boundlane/blob/main/docs/OPERATING.md
# A gateway that is not there yet is waited for: nothing has to be started first.
StartLimitIntervalSec=0

[Service]
ExecStart={start}
ExecReload=/bin/kill -HUP $MAINPID
{RESTART}
User=boundlane
Group=boundlane
Environment=XDG_CONFIG_HOME=/etc
{state}
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
PrivateTmp=yes
PrivateDevices=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
{LIMITS}

[Install]
WantedBy=multi-user.target
"
    )
}

/// A wrong command line (2) does not get better by itself.
const RESTART: &str = "\
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
TimeoutStopSec=10";

/// Many times what is needed: they end what has gone wrong, the archiving child included.
const LIMITS: &str = "\
MemoryMax=512M
TasksMax=128
LimitNOFILE=8192
LimitCORE=0";

fn state(state_dir: Option<&Path>) -> String {
    let Some(dir) = state_dir else {
        return "StateDirectory=boundlane\nStateDirectoryMode=0700".to_owned();
    };
    match systemd_path(&dir.to_string_lossy()) {
        Some(path) => format!("# Has to be there, and be the service user's own.\nReadWritePaths={path}"),
        None => "# The state directory's path cannot be written here: choose a plainer one, and name it.\n#ReadWritePaths=".to_owned(),
    }
}

fn command_line(exe: &Path, state_dir: Option<&Path>, extra_args: &[String]) -> String {
    let mut line = systemd_program(&exe.to_string_lossy());
    for argument in arguments(state_dir, extra_args) {
        line.push(' ');
        line.push_str(&systemd_argument(&argument));
    }
    line
}
