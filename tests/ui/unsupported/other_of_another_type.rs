use spanner_rows::SpannerEnum;

#[derive(SpannerEnum)]
enum Genre {
    Rock,
    #[spanner(other)]
    Other(Label),
}

struct Label;

fn is_parameter<T: spanner_rows::ToColumn>() {}

#[derive(SpannerEnum)]
enum Forgets {
    Rock,
    #[spanner(other)]
    Other,
}

fn main() {
    is_parameter::<Forgets>();
}
