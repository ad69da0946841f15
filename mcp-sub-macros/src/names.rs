//! The words that the attributes know, and the one nearest to a misspelling.

/// One kind of notification, by its names in the runtime crate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    /// In `#[emits(...)]`, and of the method of `Channel`.
    pub(crate) word: &'static str,
    /// The type.
    pub(crate) ty: &'static str,
    /// The constant of `Kinds`.
    pub(crate) constant: &'static str,
}

pub(crate) const KINDS: [Kind; 4] = [
    Kind { word: "tools_list_changed", ty: "ToolsListChanged", constant: "TOOLS_LIST_CHANGED" },
    Kind { word: "prompts_list_changed", ty: "PromptsListChanged", constant: "PROMPTS_LIST_CHANGED" },
    Kind { word: "resources_list_changed", ty: "ResourcesListChanged", constant: "RESOURCES_LIST_CHANGED" },
    Kind { word: "resources_updated", ty: "ResourcesUpdated", constant: "RESOURCES_UPDATED" },
];

/// The kind that `word` names in `#[emits(...)]`.
pub(crate) fn kind(word: &str) -> Option<Kind> {
    KINDS.into_iter().find(|kind| kind.word == word)
}

/// What to say of a word that names no kind.
pub(crate) fn unknown_kind(word: &str) -> String {
    let written_as_type =
        KINDS.iter().find(|kind| kind.ty == word || kind.constant == word).map(|kind| kind.word);
    match written_as_type.or_else(|| nearest(word, KINDS.map(|kind| kind.word))) {
        Some(near) => format!("unknown notification `{word}`; did you mean `{near}`?"),
        None => {
            format!(
                "unknown notification `{word}`; expected one of `{}`",
                KINDS.map(|kind| kind.word).join("`, `")
            )
        }
    }
}

/// The one of `words` that `word` was meant to be, if one is near enough.
pub(crate) fn nearest<const N: usize>(word: &str, words: [&'static str; N]) -> Option<&'static str> {
    let near = words.into_iter().map(|known| (distance(word, known), known)).min()?;
    (near.0 <= near.1.len() / 4).then_some(near.1)
}

/// How many characters to insert, delete or replace to get from `a` to `b` (Levenshtein's distance).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_gets_the_word_it_was_meant_to_be() {
        for (written, meant) in [
            ("tool_list_changed", "tools_list_changed"),
            ("tools_listchanged", "tools_list_changed"),
            ("prompt_list_changed", "prompts_list_changed"),
            ("resource_updated", "resources_updated"),
            ("resource_list_changed", "resources_list_changed"),
            ("ResourcesUpdated", "resources_updated"),
            ("TOOLS_LIST_CHANGED", "tools_list_changed"),
        ] {
            let text = unknown_kind(written);
            assert_eq!(text, format!("unknown notification `{written}`; did you mean `{meant}`?"));
        }
    }

    #[test]
    fn a_word_of_another_kind_gets_the_list() {
        for written in ["logging", "x", "é", ""] {
            assert!(
                unknown_kind(written).contains("expected one of `tools_list_changed`, `prompts"),
                "{written}"
            );
        }
    }

    #[test]
    fn distances() {
        for (a, b, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
