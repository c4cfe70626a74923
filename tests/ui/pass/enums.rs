#![deny(warnings)]

use spanner_rows::{FromColumn, SpannerEnum, SpannerRow, ToColumn};

/// Text.
#[derive(SpannerEnum)]
pub enum Genre {
    Rock,
    #[deprecated]
    Disco,
    r#Self_,
}

/// Numbers.
#[derive(SpannerEnum)]
#[repr(u8)]
pub enum Level {
    Low = 1,
    Mid = Self::MID,
    High = 2 + 3,
}

impl Level {
    const MID: u8 = 2;
}

#[derive(SpannerEnum)]
pub enum Borrows<'other> {
    #[spanner(other)]
    Any(std::borrow::Cow<'other, str>),
}

#[derive(SpannerRow)]
pub struct Song<'a> {
    pub genre: Option<Genre>,
    pub level: Vec<Level>,
    pub any: Borrows<'a>,
}

fn is_column<T: for<'row> FromColumn<'row> + ToColumn>() {}

fn main() {
    is_column::<Genre>();
    is_column::<Option<Level>>();
}
