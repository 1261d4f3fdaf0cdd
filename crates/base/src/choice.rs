//! Enums whose values users choose by name, in flags and in files.

/// A type with few values, each with a name and documentation.
pub trait Choice: Copy + 'static {
    /// All values, in the order of listing.
    const VALUES: &'static [Self];

    /// The value's name as users type it, and its documentation, line by line.
    fn described(self) -> (&'static str, &'static [&'static str]);

    /// Further names that are accepted, such as earlier ones. They are not listed.
    fn aliases(self) -> &'static [&'static str];

    /// The value with this name or alias.
    fn named(name: &str) -> Option<Self> {
        let is_named = |value: &Self| value.described().0 == name || value.aliases().contains(&name);
        Self::VALUES.iter().copied().find(is_named)
    }
}

/// Declares an enum with documented values as a [`Choice`]; one value may be the default. Aliases follow a value's name: `"name" | "alias"`.
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(= $default:ident)? {
            $($(#[doc = $doc:literal])* $value:ident = $text:literal $(| $alias:literal)*,)*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[doc = $doc])* #[doc = concat!("\n\nNamed `", $text, "`.")] $value,)*
        }

        $(impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        })?

        impl $name {
            /// All values, in order.
            pub const ALL: [Self; [$($text,)*].len()] = [$(Self::$value,)*];

            /// The name by which users choose the value.
            pub fn name(self) -> &'static str {
                $crate::choice::Choice::described(self).0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::choice::Choice for $name {
            const VALUES: &'static [Self] = &Self::ALL;

            fn described(self) -> (&'static str, &'static [&'static str]) {
                match self {
                    $(Self::$value => ($text, &[$($doc,)*]),)*
                }
            }

            fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(Self::$value => &[$($alias,)*],)*
                }
            }
        }
    };
}

pub use choice;
