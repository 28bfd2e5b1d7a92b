//! Cells, next to what the standard library says about them.

use super::*;

#[test]
fn short_decimals_have_the_bits_of_the_standard_library() {
    for text in ["0.1", "-2.1061624", "123456789012345", "0.000000000000001", "7.", ".5", "-0", "+3.25", "1e-3", "9e22"]
    {
        let Cell::Number { value, plain } = classify(text.as_bytes()) else { panic!("{text}") };
        assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        if plain {
            assert_eq!(value.to_string(), text);
        }
    }
    assert_eq!(classify(b"1.0"), Cell::Number { value: 1.0, plain: false });
    assert_eq!(classify(b"007"), Cell::Number { value: 7.0, plain: false });
    assert_eq!(classify(b"1.5"), Cell::Number { value: 1.5, plain: true });
    assert_eq!(classify(b"1.234567890123456e-05"), Cell::Number { value: 1.234_567_890_123_456e-05, plain: true });
    assert_eq!(classify(b"1.5e-12345678901234567"), Cell::Number { value: 0.0, plain: false });
}

#[test]
fn decimals_in_running_text_are_those_of_whole_cells() {
    let mut random = crate::seed::Seed(3).stream("decimals");
    let mut texts: Vec<String> =
        ["0", "-0", "-0.0", "7.", ".5", "+3.25", "007", "1.50", "0.1", "9007199254740993"].map(str::to_owned).to_vec();
    texts.extend(["0.12345678901234567", "1234567890123456789", "99999999999999999.99"].map(str::to_owned));
    for _ in 0..2000 {
        let real = f64::from_bits((random.bits() >> 2) | (1 << 61));
        let unit = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        texts.extend([format!("{real}"), format!("{unit}"), format!("-{unit:.3}"), format!("{}", random.bits())]);
        // in the middle between two numbers, and next to it
        let middle = (1 << 52) + (random.bits() >> 12);
        texts.extend([format!("{middle}.5"), format!("{middle}.499"), format!("-{middle}.501")]);
        let (digits, places) = (random.bits() % 10_000_000, random.bits() as usize % 9);
        texts.extend([format!("{digits}"), format!("-{digits}."), format!(".{digits}"), format!("{unit:.places$}")]);
        texts.extend([
            format!("-{}", digits % 1000),
            format!("{:.places$}", 1e4 * unit),
            format!("0{digits}.{places}"),
        ]);
    }
    for text in texts {
        let Cell::Number { value, plain } = classify(text.as_bytes()) else { panic!("{text}") };
        assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        // at the end, before a little and before much
        for after in ["", ",1", "\n", ",0.25,12345678,-1,0,0,0,0,0,0,0"] {
            let running = format!("{text}{after}");
            let eight = running.as_bytes().first_chunk().map_or(0, |&eight| u64::from_le_bytes(eight));
            let before = decimal_before(b',', eight);
            let ends = running.as_bytes().first_chunk::<8>().is_some_and(|eight| eight.contains(&b','));
            assert_eq!(before.is_some(), ends && !text.starts_with('+'), "{running}");
            for found in [decimal(running.as_bytes()), wide_decimal(running.as_bytes()), before] {
                let Some(found) = found else {
                    assert!(text.len() > 19 || before.is_none(), "{text}");
                    continue;
                };
                let found = (found.value.to_bits(), found.plain, found.len);
                assert_eq!(found, (value.to_bits(), plain, text.len()), "{text}");
            }
        }
    }
    for other in ["", "-", ".", "x", "1e5", "+", "inf", "1.5E3", "-.", "--1", "0.12345678901234567e3"] {
        assert_eq!(decimal(other.as_bytes()), None, "{other}");
        assert_eq!(decimal(format!("{other},,,,,,,,,,,,,,,,,,,,,,,,,,").as_bytes()), None, "{other}");
        assert_eq!(wide_decimal(format!("{other},,,,,,,,,,,,,,,,,,,,,,,,,,").as_bytes()), None, "{other}");
    }
    for other in
        [b",1234567", b"-,123456", b".,123456", b"1.2.3,45", b"1 ,23456", b"1e5,2345", b"12345678", b"-1234567"]
    {
        assert_eq!(decimal_before(b',', u64::from_le_bytes(*other)), None, "{other:?}");
    }
    for twice in ["1.2.3", "1.2.3,,,,,,,,,,", "1.2.3.4.5.6.7.8.9,"] {
        assert_eq!(decimal(twice.as_bytes()).map(|d| d.len), Some(3));
    }
    assert_eq!(whole_number(b"1234567:1"), Some((1_234_567, 7)));
    assert_eq!(whole_number(b"1234567890:1"), Some((1_234_567_890, 10)));
    assert_eq!((whole_number(b"7"), whole_number(b":1"), whole_number(b"12345678901:")), (Some((7, 1)), None, None));
}

#[test]
fn marks_words_and_infinities_are_told_apart() {
    for mark in ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"] {
        assert_eq!(classify(mark.as_bytes()), Cell::Missing, "{mark}");
    }
    for far in ["inf", "-Infinity", "+INF", "1e999"] {
        assert_eq!(classify(far.as_bytes()), Cell::Infinite, "{far}");
    }
    for word in ["abc", "1_000", "0x10", "1,5", "-", ".", "e5", "1e", "na", "12a", "1.2.3", "١"] {
        assert_eq!(classify(word.as_bytes()), Cell::Word, "{word}");
    }
}
