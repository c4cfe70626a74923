use proptest::prelude::*;

use super::*;

/// A message as a client sees it: its values and whether the last goes on.
type Seen = (Vec<OwnedValue>, bool);

#[test]
fn whole_values_stay_together_when_they_fit() {
    let values = [text("abc"), OwnedValue::Null, number(1.5)];
    assert_eq!(
        cut(Cut::InsideValues, &[1000], &values, 1),
        [(values.to_vec(), false)]
    );
}

#[test]
fn a_string_is_cut_between_characters() {
    // Room for four bytes, then as much as it needs.
    let seen = cut(Cut::InsideValues, &[4 + OVERHEAD, 1000], &[text("aäöü")], 1);
    assert_eq!(seen, [(vec![text("aä")], true), (vec![text("öü")], false)]);
}

#[test]
fn a_message_that_is_full_ends_with_an_empty_part() {
    let values = [text("ab"), text("cd")];
    let seen = cut(Cut::InsideValues, &[2 + OVERHEAD, 1000], &values, 1);
    assert_eq!(
        seen,
        [
            (vec![text("ab"), text("")], true),
            (vec![text("cd")], false)
        ]
    );
}

#[test]
fn every_message_brings_something_even_without_room() {
    let seen = cut(Cut::InsideValues, &[0], &[text("ab"), number(1.0)], 1);
    assert_eq!(
        seen,
        [
            (vec![text("a")], true),
            (vec![text("b")], false),
            (vec![number(1.0)], false)
        ]
    );
}

#[test]
fn a_list_cut_after_a_string_goes_on_with_an_empty_string() {
    let value = list([text("abc"), OwnedValue::Null, text("def")]);
    // The first message has room for the first element only.
    let seen = cut(Cut::InsideValues, &[2 * OVERHEAD + 4, 1000], &[value], 1);
    assert_eq!(
        seen,
        [
            (vec![list([text("abc")])], true),
            (vec![list([text(""), OwnedValue::Null, text("def")])], false)
        ]
    );
}

#[test]
fn a_list_cut_after_a_list_goes_on_with_an_empty_list() {
    let inner = || list([number(1.0)]);
    let value = list([inner(), inner()]);
    let one = 2 * OVERHEAD + 11 + 2;
    let seen = cut(Cut::InsideValues, &[one, 1000], &[value], 1);
    assert_eq!(
        seen,
        [
            (vec![list([inner()])], true),
            (vec![list([list([]), inner()])], false)
        ]
    );
}

#[test]
fn numbers_in_a_list_go_on_without_anything() {
    let value = list([number(1.0), number(2.0), number(3.0)]);
    let seen = cut(Cut::InsideValues, &[OVERHEAD + 2 * 11], &[value], 1);
    assert_eq!(
        seen,
        [
            (vec![list([number(1.0), number(2.0)])], true),
            (vec![list([number(3.0)])], false)
        ]
    );
}

#[test]
fn rows_and_values_can_be_kept_whole() {
    let values = [text("aaaa"), text("bbbb"), text("cccc"), text("dddd")];
    let between_values = cut(Cut::BetweenValues, &[12], &values, 2);
    assert_eq!(between_values.len(), 4);
    let between_rows = cut(Cut::BetweenRows, &[12], &values, 2);
    assert_eq!(
        between_rows,
        [(values[..2].to_vec(), false), (values[2..].to_vec(), false)]
    );
}

#[test]
fn no_values_are_one_empty_message() {
    assert_eq!(cut(Cut::InsideValues, &[10], &[], 1), [(Vec::new(), false)]);
}

#[test]
fn sizes_are_taken_in_turn() {
    let seen = cut(
        Cut::InsideValues,
        &[1 + OVERHEAD, 3 + OVERHEAD],
        &[text("abcdefgh")],
        1,
    );
    let parts: Vec<_> = seen
        .into_iter()
        .map(|(mut values, _)| values.remove(0))
        .collect();
    assert_eq!(parts, [text("a"), text("bcd"), text("e"), text("fgh")]);
}

/// What no clause above names: any values, cut with any sizes, join to the same.
fn any_value() -> impl Strategy<Value = OwnedValue> {
    let leaf = prop_oneof![
        Just(OwnedValue::Null),
        any::<bool>().prop_map(OwnedValue::Bool),
        (-9.0..9.0).prop_map(OwnedValue::Number),
        "[a-cäß€😀]{0,12}".prop_map(OwnedValue::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop::collection::vec(inner, 0..6).prop_map(OwnedValue::List)
    })
}

proptest! {
    #[test]
    fn joined_parts_are_the_values(
        values in prop::collection::vec(any_value(), 0..8),
        sizes in prop::collection::vec(0_usize..60, 1..4),
        cut_where in prop_oneof![
            4 => Just(Cut::InsideValues),
            1 => Just(Cut::BetweenValues),
            1 => Just(Cut::BetweenRows),
        ],
    ) {
        let seen = cut(cut_where, &sizes, &values, 2);
        if cut_where != Cut::InsideValues {
            prop_assert!(seen.iter().all(|(_, chunked)| !chunked));
        }
        prop_assert_eq!(join(seen), values);
    }
}

/// As a client joins messages.
fn join(messages: Vec<Seen>) -> Vec<OwnedValue> {
    let mut values: Vec<OwnedValue> = Vec::new();
    let mut pending = false;
    for (message, chunked) in messages {
        let mut message = message.into_iter();
        if pending {
            let first = message.next().expect("a part to go on with");
            let last = values.pop().expect("a part before");
            values.push(merge(last, first));
        }
        values.extend(message);
        pending = chunked;
    }
    assert!(!pending, "the last message promises more");
    values
}

fn merge(first: OwnedValue, second: OwnedValue) -> OwnedValue {
    match (first, second) {
        (OwnedValue::String(first), OwnedValue::String(second)) => {
            OwnedValue::String(first + &second)
        }
        (OwnedValue::List(mut first), OwnedValue::List(second)) => {
            let mut second = second.into_iter();
            match (first.pop(), second.next()) {
                (Some(last), Some(next)) if can_merge(&last, &next) => {
                    first.push(merge(last, next));
                }
                (last, next) => {
                    first.extend(last);
                    first.extend(next);
                }
            }
            first.extend(second);
            OwnedValue::List(first)
        }
        (first, second) => panic!("{first} and {second} cannot be joined"),
    }
}

const fn can_merge(first: &OwnedValue, second: &OwnedValue) -> bool {
    matches!(
        (first, second),
        (OwnedValue::String(_), OwnedValue::String(_)) | (OwnedValue::List(_), OwnedValue::List(_))
    )
}

fn cut(cut: Cut, sizes: &[usize], values: &[OwnedValue], width: usize) -> Vec<Seen> {
    let mut cutter = Cutter::new(cut, sizes);
    for (i, value) in values.iter().enumerate() {
        let mut encoded = Vec::new();
        value.write(crate::ValueWriter::new(&mut encoded));
        cutter.value(&encoded, i % width == 0);
    }
    cutter.finish().into_iter().map(seen).collect()
}

fn seen(piece: Piece) -> Seen {
    let span = Span {
        start: 0,
        end: piece.values.len(),
    };
    let mut elements = crate::wire::value::Elements::of_row(&piece.values, span);
    let mut values = Vec::new();
    while let Some(span) = elements.next().unwrap() {
        values.push(Value::read(&piece.values, span).unwrap().to_owned());
    }
    (values, piece.chunked)
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

const fn number(number: f64) -> OwnedValue {
    OwnedValue::Number(number)
}

fn list(elements: impl IntoIterator<Item = OwnedValue>) -> OwnedValue {
    OwnedValue::List(elements.into_iter().collect())
}
