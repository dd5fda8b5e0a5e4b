//! What a line of text says, borrowed from the line.

use boundlane_record::{Action, ClassTag, Disposition};

use crate::escape::Spelling;

/// The class that a line names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Class<'a> {
    /// None: only older key=value lines.
    #[default]
    None,
    /// One of the shorthand's.
    Known(ClassTag),
    /// A word that is not known here, as printed.
    Unknown(&'a str),
}

/// How much of a line's body could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Body {
    /// All of it, in one way.
    #[default]
    Clear,
    /// It can be split in several ways; none was guessed.
    Ambiguous,
    /// It breaks the grammar; what was not read is in `message`.
    Broken,
}

/// A text and how the line spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spelled<'a> {
    /// As printed.
    pub text: &'a str,
    /// How to read it.
    pub spelling: Spelling,
}

impl<'a> Spelled<'a> {
    /// A text that means what it says.
    pub fn plain(text: &'a str) -> Spelled<'a> {
        Spelled {
            text,
            spelling: Spelling::Plain,
        }
    }
}

/// The parts of one line. Texts are slices of the line, or constants of the program.
#[derive(Debug, Clone, Default)]
pub struct Fields<'a> {
    /// The class.
    pub class: Class<'a>,
    /// The OCSF caption of the activity, or the word as printed.
    pub activity: Option<&'a str>,
    /// The OCSF caption of the severity, or the word as printed.
    pub severity: Option<&'a str>,
    /// What the policy did, where the line says so.
    pub action: Option<Action>,
    /// What became of it, where the line says so.
    pub disposition: Option<Disposition>,
    /// The executable.
    pub process: Option<&'a str>,
    /// The process id.
    pub pid: Option<i32>,
    /// Name or address, without brackets.
    pub host: Option<&'a str>,
    /// The port, where it is certain.
    pub port: Option<i32>,
    /// The transport.
    pub protocol: Option<&'a str>,
    /// The HTTP method.
    pub method: Option<&'a str>,
    /// The URL's scheme.
    pub scheme: Option<&'a str>,
    /// The URL's path, without query.
    pub path: Option<&'a str>,
    /// Destination or URL as printed.
    pub destination: Option<&'a str>,
    /// The rule; absent for `-`.
    pub rule: Option<&'a str>,
    /// What decided.
    pub engine: Option<&'a str>,
    /// Why it was denied.
    pub reason: Option<&'a str>,
    /// Any other text.
    pub message: Option<Spelled<'a>>,
    /// Other named values, in printed order.
    pub attributes: Attributes<'a>,
    /// It was let through, and the line says that it would have been denied.
    pub audited: bool,
    /// How much of the body could be read.
    pub body: Body,
}

impl<'a> Fields<'a> {
    /// The known class, if it is one.
    pub fn tag(&self) -> Option<ClassTag> {
        match self.class {
            Class::Known(tag) => Some(tag),
            _ => None,
        }
    }

    /// Whether the line states a decision: NET, HTTP or SSH with an action, or an older key=value
    /// line with one.
    pub fn is_decision(&self) -> bool {
        let can_decide = match self.class {
            Class::Known(tag) => matches!(tag, ClassTag::Net | ClassTag::Http | ClassTag::Ssh),
            Class::None => true,
            Class::Unknown(_) => false,
        };
        can_decide && self.action.is_some()
    }

    /// Keeps a process id; one that is larger than the column becomes an attribute.
    pub(crate) fn set_pid(&mut self, digits: &'a str) {
        match digits.parse() {
            Ok(pid) => self.pid = Some(pid),
            Err(_) => self.attributes.push("pid", Spelled::plain(digits)),
        }
    }

    /// Keeps a port; one that is no port becomes an attribute.
    pub(crate) fn set_port(&mut self, digits: &'a str) {
        match digits.parse::<u16>() {
            Ok(port) => self.port = Some(i32::from(port)),
            Err(_) => self.attributes.push("port", Spelled::plain(digits)),
        }
    }
}

/// A named value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attribute<'a> {
    /// The name as printed; spelled as the value is.
    pub key: &'a str,
    /// The value.
    pub value: Spelled<'a>,
}

const INLINE: usize = 5;

/// How many named values of one line are kept; the rest is in its raw text.
const VALUES_MAX: usize = 64;

/// Named values in printed order. The first few take no memory of their own.
#[derive(Debug, Clone, Default)]
pub struct Attributes<'a> {
    first: [Option<Attribute<'a>>; INLINE],
    len: usize,
    more: Vec<Attribute<'a>>,
    too_many: bool,
}

impl<'a> Attributes<'a> {
    /// Adds one at the end.
    pub fn push(&mut self, key: &'a str, value: Spelled<'a>) {
        let attribute = Attribute { key, value };
        match self.first.get_mut(self.len) {
            Some(place) => {
                *place = Some(attribute);
                self.len += 1;
            }
            None if INLINE + self.more.len() < VALUES_MAX => self.more.push(attribute),
            None => self.too_many = true,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the line has more of them than are kept.
    pub fn is_cut(&self) -> bool {
        self.too_many
    }

    /// All of them, in printed order.
    pub fn iter(&self) -> impl Iterator<Item = &Attribute<'a>> {
        self.first[..self.len].iter().flatten().chain(&self.more)
    }

    /// The value called `key`, as printed.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.iter()
            .find(|attribute| attribute.key == key)
            .map(|attribute| attribute.value.text)
    }
}
