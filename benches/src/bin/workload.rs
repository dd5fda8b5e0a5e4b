//! Writes a seeded log: `workload LINES [SEED] > FILE`.

use std::io::Write;
use std::process::ExitCode;

use boundlane_benches::workload::Workload;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (Some(Ok(lines)), Ok(seed)) = (arguments.next(), arguments.next().unwrap_or(Ok(1))) else {
        let _ = writeln!(std::io::stderr(), "usage: workload LINES [SEED]");
        return ExitCode::from(2);
    };
    match write(lines, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "workload: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(lines: u64, seed: u64) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut workload = Workload::new(seed);
    let mut line = String::new();
    for _ in 0..lines {
        line.clear();
        workload.line(&mut line);
        out.write_all(line.as_bytes())?;
    }
    out.flush()
}
