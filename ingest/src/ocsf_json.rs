//! OCSF events as JSON lines: schema 1.7.0 and 1.8.0, and what the gateway downgrades to 1.1 and 1.3.
//!
//! Values are slices of the line until they are asked for, so that each can be redacted both as it
//! is spelled and as it reads.

mod value;

pub(crate) use value::{Json, Object};

use boundlane_record::{Origin, UnparsedReason};

use crate::decoder::StatedSandbox;

const GATEWAY_PRODUCT: &str = "OpenShell Gateway";

/// The schema whose `metadata.uid` is the sandbox's id; later ones may put the event's own there.
const UID_IS_SANDBOX: &str = "1.7.0";

/// The event that a line holds.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// Its keys, in printed order.
    pub(crate) top: Object<'a>,
    /// The number of its class.
    pub(crate) class_uid: i64,
}

/// Reads one line.
///
/// # Errors
/// `BadJson` when it is not one JSON object, `NotOcsf` when it has no class.
pub(crate) fn read(text: &str) -> Result<Event<'_>, UnparsedReason> {
    let top = Object::parse(text).ok_or(UnparsedReason::BadJson)?;
    let class_uid = top.get("class_uid").and_then(|uid| uid.integer());
    Ok(Event {
        class_uid: class_uid.ok_or(UnparsedReason::NotOcsf)?,
        top,
    })
}

impl<'a> Event<'a> {
    /// The value at `path`, a key in each object on the way.
    pub(crate) fn at(&self, path: &[&str]) -> Option<Json<'a>> {
        let (last, way) = path.split_last()?;
        let Some((first, way)) = way.split_first() else {
            return self.top.get(last);
        };
        let mut object = self.top.get(first)?.object()?;
        for key in way {
            object = object.get(key)?.object()?;
        }
        object.get(last)
    }

    /// Who spoke.
    pub(crate) fn origin(&self) -> Origin {
        let product = self
            .at(&["metadata", "product", "name"])
            .and_then(Json::string);
        match product.as_deref() {
            Some(GATEWAY_PRODUCT) => Origin::Gateway,
            _ => Origin::Sandbox,
        }
    }

    /// The id of the sandbox that it is about.
    pub(crate) fn sandbox_id(&self) -> Option<Json<'a>> {
        self.at(&["container", "uid"]).or_else(|| {
            let version = self.at(&["metadata", "version"]).and_then(Json::string);
            let is_sandbox = version.as_deref() == Some(UID_IS_SANDBOX);
            let uid = self.at(&["metadata", "uid"]);
            uid.filter(|_| is_sandbox && self.origin() == Origin::Sandbox)
        })
    }

    /// The sandbox's name.
    pub(crate) fn sandbox_name(&self) -> Option<Json<'a>> {
        self.at(&["container", "name"])
    }

    /// Both, as far as they are stated.
    pub(crate) fn stated_sandbox(&self) -> Option<StatedSandbox> {
        let text = |value: Json<'_>| value.string().map(|text| text.into_owned());
        let id = self.sandbox_id().and_then(text);
        let name = self.sandbox_name().and_then(text);
        (id.is_some() || name.is_some()).then_some(StatedSandbox { id, name })
    }
}
