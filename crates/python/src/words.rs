//! Sentences of the library in the words of Python, which has arguments where the command line has flags.

/// What a sentence says to those at a terminal, and what to those in Python; what stands above is looked for first. No double quotes,
/// since documents in JSON are read, too.
const WORDS: &[(&str, &str)] = &[
    ("--conformal-retrain (retrain in Python)", "conformal={'method': 'jackknife', 'retrain': True}"),
    ("--conformal split, cross, jackknife or full", "conformal='split', 'cross', 'jackknife' or 'full'"),
    ("--conformal split, cross or jackknife", "conformal='split', 'cross' or 'jackknife'"),
    ("--conformal cross or jackknife", "conformal='cross' or 'jackknife'"),
    ("--conformal split or cross", "conformal='split' or 'cross'"),
    ("--conformal jackknife", "conformal='jackknife'"),
    ("--conformal cross", "conformal='cross'"),
    ("--conformal split", "conformal='split'"),
    ("--conformal full", "conformal='full'"),
    ("give held-out examples with --calibration", "call calibrate with held-out examples"),
    ("leave out --mondrian", "leave out mondrian"),
    ("fit it again with --probabilities platt (or isotonic)", "fit it again with probability=True"),
    ("(`mercer fit --certified`)", "(fit_certified)"),
    ("fit with --certified", "use fit_certified"),
    ("Fit with a preparation share (--preparation-share 0.2)", "Fit with a preparation share (fit_prepared)"),
    (
        "predict with --missing empty to leave such rows without a prediction, or train with --missing mean",
        "leave such examples out, or train the model anew with `mercer fit --missing mean`",
    ),
    ("use --unseen ignore to take it", "train the model anew with `mercer fit --unseen ignore` to take it"),
    ("--target-range LOW,HIGH", "target_range=(low, high)"),
    ("(--held-out)", "(held_out=)"),
    ("give a file with --held-out", "give them as held_out="),
    ("--thorough", "thorough=True"),
    ("--evidence", "evidence="),
    ("--radius", "radius="),
    ("--unlabelled", "unlabelled="),
    ("raise --memory, or ", ""),
    ("raise --memory, ", ""),
    (", or raise --memory", ""),
    ("ask for fewer --repeats", "ask for fewer repeats"),
    ("mercer gram --repair mends it", "mercer.repair mends it"),
    (" (--scale standard)", ", with StandardScaler or MinMaxScaler"),
    ("--scale minmax or none", "MinMaxScaler"),
    ("--missing mean or drop", "SimpleImputer"),
    ("`mercer select --folds loo` fits it m times", "LeaveOneOut of scikit-learn fits it m times"),
    ("; `mercer list kernels` shows all", "; mercer.kernels has them all"),
    ("give the training file, and", "give those, and"),
];

/// The sentence for Python.
pub(crate) fn in_python(sentence: &str) -> String {
    if !sentence.contains("--") && !sentence.contains("`mercer") && !sentence.contains("file") {
        return sentence.to_owned();
    }
    WORDS.iter().fold(sentence.to_owned(), |text, (flags, arguments)| text.replace(flags, arguments))
}
