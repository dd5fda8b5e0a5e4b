//! The sets whose names and numbers are those of OCSF 1.8.

words! {
    /// OCSF `action`.
    Action {
        Unknown = "Unknown",
        Allowed = "Allowed",
        Denied = "Denied",
        Observed = "Observed",
        Modified = "Modified",
        Other = "Other",
    }
}

impl Action {
    /// OCSF `action_id`.
    pub const fn id(self) -> i32 {
        match self {
            Action::Unknown => 0,
            Action::Allowed => 1,
            Action::Denied => 2,
            Action::Observed => 3,
            Action::Modified => 4,
            Action::Other => 99,
        }
    }
}

words! {
    /// OCSF `disposition`.
    Disposition {
        Unknown = "Unknown",
        Allowed = "Allowed",
        Blocked = "Blocked",
        Quarantined = "Quarantined",
        Isolated = "Isolated",
        Deleted = "Deleted",
        Dropped = "Dropped",
        CustomAction = "Custom Action",
        Approved = "Approved",
        Restored = "Restored",
        Exonerated = "Exonerated",
        Corrected = "Corrected",
        PartiallyCorrected = "Partially Corrected",
        Uncorrected = "Uncorrected",
        Delayed = "Delayed",
        Detected = "Detected",
        NoAction = "No Action",
        Logged = "Logged",
        Tagged = "Tagged",
        Alert = "Alert",
        Count = "Count",
        Reset = "Reset",
        Captcha = "Captcha",
        Challenge = "Challenge",
        AccessRevoked = "Access Revoked",
        Rejected = "Rejected",
        Unauthorized = "Unauthorized",
        Error = "Error",
        Other = "Other",
    }
}

impl Disposition {
    /// OCSF `disposition_id`: the place in the table, 99 for `Other`.
    pub const fn id(self) -> i32 {
        match self {
            Disposition::Other => 99,
            known => known as i32,
        }
    }
}

words! {
    /// OCSF `severity`.
    Severity {
        Unknown = "Unknown",
        Informational = "Informational",
        Low = "Low",
        Medium = "Medium",
        High = "High",
        Critical = "Critical",
        Fatal = "Fatal",
        Other = "Other",
    }
}

impl Severity {
    /// OCSF `severity_id`.
    pub const fn id(self) -> i32 {
        match self {
            Severity::Other => 99,
            known => known as i32,
        }
    }

    /// The caption of the shorthand's tag (`INFO`, `MED`, ...), `None` for a tag it never prints.
    pub fn from_tag(tag: &str) -> Option<Severity> {
        Some(match tag {
            "INFO" => Severity::Informational,
            "LOW" => Severity::Low,
            "MED" => Severity::Medium,
            "HIGH" => Severity::High,
            "CRIT" => Severity::Critical,
            "FATAL" => Severity::Fatal,
            "UNKN" => Severity::Unknown,
            _ => return None,
        })
    }
}

words! {
    /// The classes that the shorthand prints, by their word there.
    ClassTag {
        Net = "NET",
        Http = "HTTP",
        Api = "API",
        Ssh = "SSH",
        Proc = "PROC",
        Finding = "FINDING",
        Lifecycle = "LIFECYCLE",
        Config = "CONFIG",
        Event = "EVENT",
    }
}

impl ClassTag {
    /// OCSF `class_uid`.
    pub const fn uid(self) -> i32 {
        match self {
            ClassTag::Net => 4001,
            ClassTag::Http => 4002,
            ClassTag::Api => 6003,
            ClassTag::Ssh => 4007,
            ClassTag::Proc => 1007,
            ClassTag::Finding => 2004,
            ClassTag::Lifecycle => 6002,
            ClassTag::Config => 5019,
            ClassTag::Event => 0,
        }
    }

    /// OCSF `class_name`.
    pub const fn caption(self) -> &'static str {
        match self {
            ClassTag::Net => "Network Activity",
            ClassTag::Http => "HTTP Activity",
            ClassTag::Api => "API Activity",
            ClassTag::Ssh => "SSH Activity",
            ClassTag::Proc => "Process Activity",
            ClassTag::Finding => "Detection Finding",
            ClassTag::Lifecycle => "Application Lifecycle",
            ClassTag::Config => "Device Config State Change",
            ClassTag::Event => "Base Event",
        }
    }

    /// The class with this OCSF number, `None` for one that the shorthand does not print.
    pub fn from_uid(uid: i64) -> Option<ClassTag> {
        ClassTag::ALL
            .iter()
            .copied()
            .find(|tag| i64::from(tag.uid()) == uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ocsf_numbers_are_those_of_the_1_8_schema() {
        assert_eq!(Disposition::Reset.id(), 21);
        assert_eq!(Disposition::Error.id(), 27);
        assert_eq!(Disposition::Other.id(), 99);
        assert_eq!(Disposition::NoAction.id(), 16);
        assert_eq!(Severity::Fatal.id(), 6);
        assert_eq!(Severity::Other.id(), 99);
        assert_eq!(Action::Denied.id(), 2);
        assert_eq!(ClassTag::from_uid(4002), Some(ClassTag::Http));
        assert_eq!(ClassTag::from_uid(9999), None);
    }
}
