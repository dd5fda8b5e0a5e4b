//! The bearer token, read anew for each call: another program renews it.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use boundlane_record::Micros;
use serde::Deserialize;
use tonic::metadata::{Ascii, MetadataValue};

use crate::error::GatewayError;
use crate::shared::read_file;

/// What is read of `oidc_token.json`.
#[derive(Deserialize)]
struct TokenFile {
    access_token: String,
    /// Unix seconds.
    expires_at: Option<i64>,
}

/// The value of `authorization`, marked as a secret.
pub(crate) fn authorization(path: &Path) -> Result<MetadataValue<Ascii>, GatewayError> {
    let text = read_file(path).map_err(|why| no_token(path, &why))?;
    bearer(path, &text, now())
}

fn bearer(path: &Path, text: &str, now: Micros) -> Result<MetadataValue<Ascii>, GatewayError> {
    // A parse error of serde may quote the value that it met.
    let file: TokenFile =
        serde_json::from_str(text).map_err(|_| no_token(path, "it is no token file"))?;
    let since = file
        .expires_at
        .and_then(|seconds| seconds.checked_mul(1_000_000))
        .map(Micros);
    if let Some(since) = since.filter(|since| *since <= now) {
        return Err(GatewayError::ExpiredToken {
            since,
            path: path.to_owned(),
        });
    }
    let token = file.access_token.trim();
    if token.is_empty() {
        return Err(no_token(path, "its token is empty"));
    }
    let mut value: MetadataValue<Ascii> = format!("Bearer {token}")
        .parse()
        .map_err(|_| no_token(path, "its token has characters that no token has"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn no_token(path: &Path, why: &str) -> GatewayError {
    GatewayError::NoToken {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Micros(since.map_or(0, |time| {
        i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<MetadataValue<Ascii>, GatewayError> {
        bearer(Path::new("t.json"), text, Micros(1_000_000_000))
    }

    /// A token is used until the second it expires in, and one without an end always.
    #[test]
    fn a_token_is_used_until_it_expires() {
        for text in [
            r#"{"access_token":"abc","expires_at":1001,"refresh_token":"r","issuer":"i"}"#,
            r#"{"access_token":" abc\n"}"#,
            r#"{"access_token":"abc","expires_at":null}"#,
        ] {
            let value = read(text).unwrap();
            assert_eq!(value.to_str().unwrap(), "Bearer abc", "{text}");
            assert!(value.is_sensitive());
            assert!(!format!("{value:?}").contains("abc"));
        }
        for (end, since) in [(1000, 1_000_000_000), (-5, -5_000_000)] {
            let text = format!(r#"{{"access_token":"abc","expires_at":{end}}}"#);
            let error = read(&text).unwrap_err();
            let GatewayError::ExpiredToken { since: told, .. } = error else {
                panic!("{error}")
            };
            assert_eq!(told, Micros(since));
        }
    }

    /// A token that cannot be used is an error that does not quote it.
    #[test]
    fn a_broken_token_file_is_refused_without_quoting_it() {
        for text in [
            "hunter2",
            r#"{"access_token":["hunter2"]}"#,
            r#"{"token":"hunter2"}"#,
            r#"{"access_token":"hunter2\u0001"}"#,
            r#"{"access_token":"hunter2","expires_at":"hunter2"}"#,
            r#"{"access_token":""}"#,
        ] {
            let error = read(text).unwrap_err();
            assert!(matches!(error, GatewayError::NoToken { .. }), "{text}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{text}");
        }
    }
}
