//! The rules of `rename_all`.

/// How column names are made of field names, which are in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Lower,
    Upper,
    Kebab,
    ScreamingKebab,
}

impl Case {
    /// Every rule under its name; what Spanner schemas use most comes first.
    pub(crate) const ALL: [(&'static str, Self); 8] = [
        ("PascalCase", Self::Pascal),
        ("camelCase", Self::Camel),
        ("snake_case", Self::Snake),
        ("SCREAMING_SNAKE_CASE", Self::ScreamingSnake),
        ("lowercase", Self::Lower),
        ("UPPERCASE", Self::Upper),
        ("kebab-case", Self::Kebab),
        ("SCREAMING-KEBAB-CASE", Self::ScreamingKebab),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, case)| *case)
    }

    /// The column name for a field.
    pub(crate) fn apply(self, field: &str) -> String {
        match self {
            Self::Snake | Self::Lower => field.to_owned(),
            Self::ScreamingSnake | Self::Upper => field.to_uppercase(),
            Self::Kebab => field.replace('_', "-"),
            Self::ScreamingKebab => field.to_uppercase().replace('_', "-"),
            Self::Pascal => pascal(field),
            Self::Camel => {
                let pascal = pascal(field);
                let mut letters = pascal.chars();
                match letters.next() {
                    Some(first) => first.to_lowercase().chain(letters).collect(),
                    None => pascal,
                }
            }
        }
    }
}

impl Case {
    /// The text for a variant, whose name is in Pascal case.
    pub(crate) fn apply_to_variant(self, variant: &str) -> String {
        if self == Self::Pascal {
            return variant.to_owned();
        }
        if matches!(self, Self::Lower) {
            return variant.to_lowercase();
        }
        if matches!(self, Self::Upper) {
            return variant.to_uppercase();
        }
        let mut snake = String::new();
        for (i, letter) in variant.char_indices() {
            if letter.is_uppercase() && i > 0 {
                snake.push('_');
            }
            snake.extend(letter.to_lowercase());
        }
        self.apply(&snake)
    }
}

fn pascal(field: &str) -> String {
    field
        .split('_')
        .flat_map(|word| {
            let mut letters = word.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Case;

    #[test]
    fn rules() {
        for (name, short, long, digit) in [
            ("PascalCase", "Id", "FirstName", "Address2"),
            ("camelCase", "id", "firstName", "address2"),
            ("snake_case", "id", "first_name", "address_2"),
            ("SCREAMING_SNAKE_CASE", "ID", "FIRST_NAME", "ADDRESS_2"),
            ("lowercase", "id", "first_name", "address_2"),
            ("UPPERCASE", "ID", "FIRST_NAME", "ADDRESS_2"),
            ("kebab-case", "id", "first-name", "address-2"),
            ("SCREAMING-KEBAB-CASE", "ID", "FIRST-NAME", "ADDRESS-2"),
        ] {
            let case = Case::named(name).expect(name);
            assert_eq!(case.apply("id"), short, "{name}");
            assert_eq!(case.apply("first_name"), long, "{name}");
            assert_eq!(case.apply("address_2"), digit, "{name}");
        }
        assert_eq!(Case::named("pascalcase"), None);
    }

    #[test]
    fn rules_for_variants() {
        for (name, text) in [
            ("PascalCase", "FirstName"),
            ("camelCase", "firstName"),
            ("snake_case", "first_name"),
            ("SCREAMING_SNAKE_CASE", "FIRST_NAME"),
            ("lowercase", "firstname"),
            ("UPPERCASE", "FIRSTNAME"),
            ("kebab-case", "first-name"),
            ("SCREAMING-KEBAB-CASE", "FIRST-NAME"),
        ] {
            let case = Case::named(name).expect(name);
            assert_eq!(case.apply_to_variant("FirstName"), text, "{name}");
        }
        assert_eq!(Case::Snake.apply_to_variant("Ä2B"), "ä2_b");
    }

    #[test]
    fn odd_names() {
        assert_eq!(Case::Pascal.apply("_private"), "Private");
        assert_eq!(Case::Camel.apply("_private"), "private");
        assert_eq!(Case::Pascal.apply("straße_ä"), "StraßeÄ");
        assert_eq!(Case::Camel.apply("_"), "");
    }
}
