//! Spans of whole numbers: a kind for tests, which shows what a new kind needs.

use super::{Item, Items, KindEntry};

/// All whole numbers from the first to the last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Item for Span {
    fn kind() -> &'static KindEntry {
        &KIND
    }

    fn read(cell: &str) -> Result<Self, String> {
        let ends = cell.split_once("..").and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
        match ends {
            Some((first, last)) if first <= last => Ok(Self { first, last }),
            _ => Err(format!("\"{cell}\" is no span of whole numbers; write it as 2..5")),
        }
    }

    fn show(&self) -> String {
        format!("{}..{}", self.first, self.last)
    }
}

/// The catalogue's entry.
pub(crate) static KIND: KindEntry = KindEntry {
    name: "spans",
    plural: "spans",
    summary: "whole numbers from a first to a last",
    cell: "2..5",
    parse: Some(Items::<Span>::parse),
};

mod tests {
    use super::*;
    use crate::data::{Dataset, Kind, Schema, SchemaOptions, Values, Wanted, read};

    fn table(text: &str) -> crate::data::Table {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let options = read::ReadOptions { words: vec!["where".to_owned()], ..read::ReadOptions::default() };
        read::read(&path, &options).unwrap()
    }

    fn spans(values: &Values) -> Vec<Span> {
        values.items::<Span>().unwrap().0.clone()
    }

    #[test]
    fn a_column_of_cells_becomes_a_view() {
        let wanted = Wanted { views: vec![(None, Kind::Other(&KIND))], members: Vec::new() };
        let mut options = SchemaOptions::default();
        options.expect(&wanted, false);
        let train = table("where,size,y\n1..3,7,a\n2..2,8,b\n");
        options.infer(&train, &wanted, false).unwrap();
        let (schema, data) = Schema::learn_and_apply(&train, &options).unwrap();
        let view = data.view("where").unwrap();
        assert_eq!(view.kind(), Kind::Other(&KIND));
        assert_eq!(spans(view), [Span { first: 1, last: 3 }, Span { first: 2, last: 2 }]);
        assert_eq!(schema.view("where").unwrap().kind(), "spans");
        assert_eq!(schema.word_columns(), ["where"]);
        // the schema survives its JSON, and reads new files
        let again: Schema = serde_json::from_str(&serde_json::to_string(&schema).unwrap()).unwrap();
        assert_eq!(again, schema);
        let new = again.apply(&table("where,size\n4..9,1\n")).unwrap();
        assert_eq!(spans(new.view("where").unwrap()), [Span { first: 4, last: 9 }]);
        // a cell that is none is told with its place
        let said = again.apply(&table("where,size\n4..9,1\n9..4,1\n")).unwrap_err().to_string();
        assert!(said.contains("line 3") && said.contains("where") && said.contains("write it as 2..5"), "{said}");
    }

    #[test]
    fn spans_are_selected_joined_and_recognised() {
        let some =
            |ends: &[(i64, i64)]| Dataset::new(Items(ends.iter().map(|&(first, last)| Span { first, last }).collect()));
        let (a, b) = (some(&[(1, 2), (3, 4)]), some(&[(5, 6)]));
        let all = a.joined(&b).unwrap();
        assert_eq!(spans(all.select(&[2, 0]).view("x").unwrap()), spans(some(&[(5, 6), (1, 2)]).view("x").unwrap()));
        assert_eq!(a.fingerprint(), some(&[(1, 2), (3, 4)]).fingerprint());
        assert_ne!(a.fingerprint(), some(&[(1, 2), (3, 5)]).fingerprint());
        let text = Dataset::new(vec!["1..2".to_owned()]);
        let said = a.joined(&text).unwrap_err().to_string();
        assert!(said.contains("some are spans, others strings"), "{said}");
    }
}
