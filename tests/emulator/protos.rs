//! PROTO and ENUM: columns, arrays, NULL, parameters, and values that the Rust type does not know.

use std::borrow::Cow;

use bytes::Bytes;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type as FieldType};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet,
};
use spanner_rows::testing::{Database, Emulator};
use spanner_rows::{
    Base64, Client, List, OwnedValue, Proto, ProtoEnum, Row, SpannerRow, Type, TypeCode, Value,
};

use crate::literals::Literal;
use crate::support;
use crate::ways::read_as;

const DDL: [&str; 2] = [
    "CREATE PROTO BUNDLE (music.Track, music.Genre)",
    "CREATE TABLE Albums (
        Id INT64 NOT NULL,
        Track music.Track,
        Genre music.Genre,
        Tracks ARRAY<music.Track>,
        Genres ARRAY<music.Genre>,
    ) PRIMARY KEY (Id)",
];

#[derive(Clone, PartialEq, prost::Message)]
struct Track {
    #[prost(string, tag = "1")]
    title: String,
    #[prost(int64, repeated, tag = "2")]
    plays: Vec<i64>,
    #[prost(enumeration = "Genre", tag = "3")]
    genre: i32,
}

impl prost::Name for Track {
    const NAME: &'static str = "Track";
    const PACKAGE: &'static str = "music";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum Genre {
    Pop = 0,
    Rock = 1,
    Least = i32::MIN,
    Most = i32::MAX,
}

/// What `protoc --descriptor_set_out` would write for the two types.
fn descriptors() -> Vec<u8> {
    let field = |name: &str, number, label: Label, ty: FieldType| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(ty.into()),
        type_name: (ty == FieldType::Enum).then(|| ".music.Genre".to_owned()),
        ..FieldDescriptorProto::default()
    };
    let track = DescriptorProto {
        name: Some("Track".to_owned()),
        field: vec![
            field("title", 1, Label::Optional, FieldType::String),
            field("plays", 2, Label::Repeated, FieldType::Int64),
            field("genre", 3, Label::Optional, FieldType::Enum),
        ],
        ..DescriptorProto::default()
    };
    let genre = EnumDescriptorProto {
        name: Some("Genre".to_owned()),
        value: genres()
            .into_iter()
            .flatten()
            .map(|genre| EnumValueDescriptorProto {
                name: Some(format!("{genre:?}").to_uppercase()),
                number: Some(genre.into()),
                options: None,
            })
            .collect(),
        ..EnumDescriptorProto::default()
    };
    let file = FileDescriptorProto {
        name: Some("music.proto".to_owned()),
        package: Some("music".to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: vec![track],
        enum_type: vec![genre],
        ..FileDescriptorProto::default()
    };
    FileDescriptorSet { file: vec![file] }.encode_to_vec()
}

/// NULL, edge values, NULL again; what is long before what is short.
fn tracks() -> Vec<Option<Track>> {
    vec![
        None,
        Some(Track {
            title: "żółć 🎷\0".repeat(200),
            plays: vec![i64::MIN, -1, 0, i64::MAX],
            genre: Genre::Most.into(),
        }),
        Some(Track {
            title: "a".to_owned(),
            plays: vec![7],
            genre: Genre::Least.into(),
        }),
        // No bytes at all, which is not NULL.
        Some(Track::default()),
        None,
    ]
}

fn genres() -> Vec<Option<Genre>> {
    vec![
        None,
        // Zero first: so proto3 wants it.
        Some(Genre::Pop),
        Some(Genre::Most),
        Some(Genre::Least),
        Some(Genre::Rock),
    ]
}

/// The arrays of the rows: all, none, NULL, one, one NULL.
fn lists<T: Clone>(all: Vec<Option<T>>) -> Vec<Option<Vec<Option<T>>>> {
    let (some, null) = (vec![all[1].clone()], vec![None]);
    vec![Some(all), Some(vec![]), None, Some(some), Some(null)]
}

async fn table() -> Option<(Database, Client)> {
    fn array<T>(values: Option<Vec<Option<T>>>, sql: impl Fn(Option<T>) -> String) -> String {
        let Some(values) = values else {
            return "NULL".to_owned();
        };
        let values: Vec<_> = values.into_iter().map(sql).collect();
        format!("[{}]", values.join(", "))
    }
    let (database, client) =
        support::database_with(|new| new.proto_descriptors(descriptors()).ddl(&DDL)).await?;
    let track = |track: Option<Track>| {
        let bytes = track.map(|track| track.encode_to_vec());
        format!("CAST({} AS music.Track)", bytes.sql())
    };
    let genre = |genre: Option<Genre>| {
        let number = genre.map(|genre| i64::from(i32::from(genre)));
        format!("CAST({} AS music.Genre)", number.sql())
    };
    let columns = tracks().into_iter().zip(genres());
    let arrays = lists(tracks()).into_iter().zip(lists(genres()));
    let inserts = (0..).zip(columns.zip(arrays));
    let inserts = inserts.map(|(id, ((one, other), (ones, others)))| {
        let values = [
            id.to_string(),
            track(one),
            genre(other),
            array(ones, track),
            array(others, genre),
        ];
        let columns = "Id, Track, Genre, Tracks, Genres";
        format!(
            "INSERT INTO Albums ({columns}) VALUES ({})",
            values.join(", ")
        )
    });
    let inserts: Vec<_> = inserts.collect();
    let inserts: Vec<_> = inserts.iter().map(String::as_str).collect();
    database.execute_all(&inserts).await.unwrap();
    Some((database, client))
}

fn encoded(tracks: Vec<Option<Track>>) -> Vec<Option<Vec<u8>>> {
    let encode = |track: Track| track.encode_to_vec();
    tracks.into_iter().map(|track| track.map(encode)).collect()
}

fn numbers(genres: Vec<Option<Genre>>) -> Vec<Option<i32>> {
    genres
        .into_iter()
        .map(|genre| genre.map(i32::from))
        .collect()
}

#[tokio::test]
async fn messages() {
    let Some((_database, client)) = table().await else {
        return;
    };
    let sql = "SELECT Track FROM Albums ORDER BY Id";
    read_as! { client, sql, tracks();
        Proto<Track> => |track| track.0.clone();
    }
    read_as! { client, sql, encoded(tracks());
        &[u8] => |bytes| bytes.to_vec();
        Cow<[u8]> => |bytes| bytes.to_vec();
        Vec<u8> => |bytes| bytes.clone();
        Box<[u8]> => |bytes| bytes.to_vec();
        Bytes => |bytes| bytes.to_vec();
        Base64 => |text| text.decode().unwrap();
        OwnedValue => |value| match value {
            OwnedValue::String(text) => Base64::new(text).decode().unwrap(),
            other => panic!("{other}"),
        };
    }
    let sql = "SELECT Tracks FROM Albums ORDER BY Id";
    read_as! { client, sql, lists(tracks());
        Vec<Option<Proto<Track>>> => |tracks| tracks.iter().map(|t| t.clone().map(|t| t.0)).collect();
        Box<[Option<Proto<Track>>]> => |tracks| tracks.iter().map(|t| t.clone().map(|t| t.0)).collect();
        List<Option<Proto<Track>>> => |tracks| tracks.iter().map(|t| t.unwrap().map(|t| t.0)).collect();
    }
    let expected: Vec<_> = lists(tracks())
        .into_iter()
        .map(|list| list.map(encoded))
        .collect();
    read_as! { client, sql, expected.clone();
        Vec<Option<Vec<u8>>> => |list| list.clone();
        Vec<Option<&[u8]>> => |list| list.iter().map(|b| b.map(<[u8]>::to_vec)).collect();
        List<Option<&[u8]>> => |list| list.iter().map(|b| b.unwrap().map(<[u8]>::to_vec)).collect();
        List<Option<Base64>> => |list| list.iter().map(|b| b.unwrap().map(|b| b.decode().unwrap())).collect();
    }
}

#[tokio::test]
async fn enums() {
    let Some((_database, client)) = table().await else {
        return;
    };
    let sql = "SELECT Genre FROM Albums ORDER BY Id";
    read_as! { client, sql, genres();
        ProtoEnum<Genre> => |genre| genre.0;
    }
    read_as! { client, sql, numbers(genres());
        ProtoEnum<i32> => |number| number.0;
        i32 => |number| *number;
        i64 => |number| i32::try_from(*number).unwrap();
        OwnedValue => |value| match value {
            OwnedValue::String(text) => text.parse().unwrap(),
            other => panic!("{other}"),
        };
    }
    let sql = "SELECT Genres FROM Albums ORDER BY Id";
    read_as! { client, sql, lists(genres());
        Vec<Option<ProtoEnum<Genre>>> => |genres| genres.iter().map(|g| g.map(|g| g.0)).collect();
        Box<[Option<ProtoEnum<Genre>>]> => |genres| genres.iter().map(|g| g.map(|g| g.0)).collect();
        List<Option<ProtoEnum<Genre>>> => |genres| genres.iter().map(|g| g.unwrap().map(|g| g.0)).collect();
    }
    let expected: Vec<_> = lists(genres())
        .into_iter()
        .map(|list| list.map(numbers))
        .collect();
    read_as! { client, sql, expected.clone();
        Vec<Option<i32>> => |numbers| numbers.clone();
        List<Option<i32>> => |numbers| numbers.iter().map(Result::unwrap).collect();
        Vec<Option<i64>> => |numbers| numbers.iter().map(|n| n.map(|n| n as i32)).collect();
    }
}

/// Set anew for every row: messages, and bytes beside what borrows.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Reused<'row> {
    id: i64,
    track: Option<Proto<Track>>,
    #[spanner(rename = "Track2")]
    bytes: Option<&'row [u8]>,
    genre: Option<ProtoEnum<Genre>>,
    tracks: Option<Vec<Option<Proto<Track>>>>,
    genres: Option<Vec<Option<ProtoEnum<Genre>>>>,
}

#[tokio::test]
async fn nothing_is_left_of_an_earlier_row() {
    let Some((_database, client)) = table().await else {
        return;
    };
    for order in ["ASC", "DESC"] {
        let sql = format!("SELECT *, Track AS Track2 FROM Albums ORDER BY Id {order}");
        let mut rows = client.query(sql).rows::<Reused>().await.unwrap();
        for i in 0..tracks().len() {
            let row = rows.next().await.unwrap().expect("as many rows as written");
            let id = if order == "ASC" {
                i
            } else {
                tracks().len() - 1 - i
            };
            assert_eq!(row.id, id as i64);
            let track = tracks()[id].clone();
            let bytes = encoded(vec![track.clone()]).remove(0);
            assert_eq!(row.bytes, bytes.as_deref());
            assert_eq!(row.track, track.map(Proto));
            assert_eq!(row.genre, genres()[id].map(ProtoEnum));
            let messages = lists(tracks()).remove(id);
            let messages = messages.map(|list| list.into_iter().map(|m| m.map(Proto)).collect());
            assert_eq!(row.tracks, messages);
            let enums = lists(genres()).remove(id);
            let enums = enums.map(|list| list.into_iter().map(|e| e.map(ProtoEnum)).collect());
            assert_eq!(row.genres, enums);
        }
        assert!(rows.next().await.unwrap().is_none());
    }
}

/// The types of the columns, and structs of them.
#[tokio::test]
async fn types() {
    let Some((_database, client)) = table().await else {
        return;
    };
    let track = Type::new(TypeCode::Proto).with_proto_type("music.Track");
    let genre = Type::new(TypeCode::Enum).with_proto_type("music.Genre");
    let sql =
        "SELECT Track, Genre, Tracks, Genres, Track.title, Track.genre FROM Albums WHERE Id = 2";
    let batch = client.query(sql).one_batch::<Row>().await.unwrap();
    let row = batch.row(0).unwrap();
    let types = row.row_type().fields().iter().map(|field| field.ty());
    let arrays = [track.clone(), genre.clone()].map(Type::array);
    let text = Type::new(TypeCode::String);
    assert!(types.eq([&track, &genre, &arrays[0], &arrays[1], &text, &genre]));
    assert_eq!(row.value(1).unwrap(), Value::String("2147483647"));
    assert_eq!(row.get::<&str>("title").unwrap(), "a");
    let field: ProtoEnum<Genre> = row.get(5).unwrap();
    assert_eq!(field.0, Genre::Least);

    let sql = "SELECT [STRUCT(Track, Genre), STRUCT(NULL, NULL)] FROM Albums WHERE Id = 2";
    type Pair = (Option<Proto<Track>>, Option<ProtoEnum<Genre>>);
    let (pairs,): (Vec<Pair>,) = client.query(sql).one().await.unwrap();
    let track = tracks().remove(2).map(Proto);
    assert_eq!(pairs, [(track, Some(ProtoEnum(Genre::Most))), (None, None)]);
}

/// Spanner takes bytes and numbers that the Rust types do not know: each an error of
/// its row, and tells what reads it.
#[tokio::test]
async fn strangers() {
    let Some((_database, client)) = table().await else {
        return;
    };
    let sql =
        r"SELECT CAST(e AS music.Genre) FROM UNNEST([77, 1]) AS e WITH OFFSET AS i ORDER BY i";
    let mut rows = client
        .query(sql)
        .rows::<(ProtoEnum<Genre>,)>()
        .await
        .unwrap();
    let error = rows.next().await.unwrap_err();
    assert!(error.is_row_error(), "{error}");
    assert!(error.to_string().contains("`i32`"), "{error}");
    assert_eq!(rows.next().await.unwrap(), Some((ProtoEnum(Genre::Rock),)));
    let (number,): (i32,) = client
        .query("SELECT CAST(77 AS music.Genre)")
        .one()
        .await
        .unwrap();
    assert_eq!(number, 77);

    let sql = r"SELECT CAST(e AS music.Track) FROM UNNEST([b'\xff', b'\x0a\x01x']) AS e WITH OFFSET AS i ORDER BY i";
    let mut rows = client.query(sql).rows::<(Proto<Track>,)>().await.unwrap();
    assert!(rows.next().await.unwrap_err().is_row_error());
    let row = rows.next().await.unwrap().expect("two rows");
    assert_eq!(row.0.0.title, "x");

    let query = client.query("SELECT Genre FROM Albums");
    let error = query.rows::<(&str,)>().await.expect_err("not text");
    let error = error.to_string();
    assert!(error.contains("ENUM<music.Genre>"), "{error}");
}

#[tokio::test]
async fn parameters() {
    let Some((_database, client)) = table().await else {
        return;
    };
    for track in tracks() {
        let sent = track.clone().map(Proto);
        type Read = (Option<Proto<Track>>, Option<String>, Option<Vec<i64>>);
        let query = client.query("SELECT @p, @p.title, @p.plays");
        let read: Read = query.param("p", &sent).one().await.unwrap();
        assert_eq!(read.0, sent);
        assert_eq!(read.1, track.as_ref().map(|track| track.title.clone()));
        assert_eq!(read.2, track.map(|track| track.plays));
    }
    let all: Vec<_> = tracks().into_iter().map(|t| t.map(Proto)).collect();
    let query = client
        .query("SELECT @p, @p[OFFSET(2)].title")
        .param("p", &all);
    let read: (Vec<Option<Proto<Track>>>, String) = query.one().await.unwrap();
    assert_eq!(read, (all, "a".to_owned()));

    // An enum goes as its number.
    for genre in genres() {
        let sent = genre.map(ProtoEnum);
        let query = client.query("SELECT CAST(@p AS music.Genre)");
        let read: (Option<ProtoEnum<Genre>>,) = query.param("p", sent).one().await.unwrap();
        assert_eq!(read.0, sent);
        let found: Option<(i64,)> = client
            .query("SELECT Id FROM Albums WHERE Genre = CAST(@p AS music.Genre)")
            .param("p", sent)
            .optional()
            .await
            .unwrap();
        let id = genres().iter().position(|other| *other == genre);
        assert_eq!(found.map(|row| row.0 as usize), id.filter(|id| *id > 0));
    }
    let all: Vec<_> = genres().into_iter().map(|g| g.map(ProtoEnum)).collect();
    let sql = "SELECT ARRAY(SELECT CAST(e AS music.Genre) FROM UNNEST(@p) AS e WITH OFFSET AS i ORDER BY i)";
    let query = client.query(sql).param("p", &all);
    let read: (Vec<Option<ProtoEnum<Genre>>>,) = query.one().await.unwrap();
    assert_eq!(read.0, all);
}

/// Descriptors may come after the creation, and are asked for.
#[tokio::test]
async fn a_bundle_later() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let database = emulator.create_database(&[]).await.unwrap();
    let error = database.update_ddl(&DDL).await.unwrap_err();
    assert!(error.to_string().contains("descriptor"), "{error}");
    database
        .update_ddl_with_protos(&DDL, descriptors())
        .await
        .unwrap();
    let insert = "INSERT INTO Albums (Id, Genre) VALUES (1, 'ROCK')";
    assert_eq!(database.execute(insert).await.unwrap(), 1);
}
