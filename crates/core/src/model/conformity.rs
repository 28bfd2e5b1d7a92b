//! Conformal predictors in a model file: nonconformities, and the models without a fold or an example.

use super::coefficients;
use super::file::{StoredView, finite, pack_views, places, unpack_views};
use super::tensors::{Packer, Unpacker};
use crate::conformal::{Conformal, Full, Measure, Method, Panel};
use crate::data::RepeatsBeside;
use crate::linalg::Triangle;
use crate::machines::{Coefficients, Readout, Smoother};
use serde::{Deserialize, Serialize};

/// The part of the document about conformal prediction.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredConformal {
    method: Method,
    mondrian: bool,
    measure: Measure,
    columns: usize,
    panels: Vec<StoredPanel>,
    /// Examples that the model itself does not need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pool: Option<Vec<StoredView>>,
    /// Files that do not say it promise nothing.
    #[serde(default, rename = "apart")]
    proven: bool,
    /// True if some of what is held out is of training.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    holds_training: bool,
    /// Equal examples, where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeats: Option<RepeatsBeside>,
    /// λ of the fit that full keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lambda: Option<f64>,
}

impl StoredConformal {
    /// True if only readers of a later version understand it.
    pub(super) fn is_full(&self) -> bool {
        self.method == Method::Full
    }
}

#[derive(Serialize, Deserialize)]
struct StoredPanel {
    coefficients: coefficients::Stored,
    members: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    known: Option<Vec<u32>>,
}

/// Adds a predictor to a file.
pub(super) fn pack(pack: &mut Packer, conformal: &Conformal) -> StoredConformal {
    let Conformal { method, mondrian, measure, groups, columns, panels, full, pool, proven, holds_training, repeats } =
        conformal;
    let mut starts = vec![0_u64];
    starts.extend(groups.iter().scan(0, |end, group| {
        *end += group.len() as u64;
        Some(*end)
    }));
    let scores = groups.concat();
    pack.u64s("conformal.starts", &[starts.len()], &starts);
    pack.f64s("conformal.scores", &[scores.len()], &scores);
    let panel = |(i, panel): (usize, &Panel)| StoredPanel {
        coefficients: pack.within(&format!("conformal.panel.{i}."), |p| coefficients::pack(p, &panel.expansion)),
        members: panel.members,
        known: panel.known.clone(),
    };
    let panels = panels.iter().enumerate().map(panel).collect();
    let lambda = full.as_ref().map(|full| pack_full(pack, full));
    let pool = pool.as_ref().map(|pool| pack.within("conformal.pool.", |p| pack_views(p, pool)));
    let (method, mondrian, measure, columns) = (*method, *mondrian, *measure, *columns);
    let (proven, holds_training) = (*proven, *holds_training);
    let repeats = Some(*repeats).filter(|repeats| repeats.within.equal > 0 || repeats.equal > 0);
    StoredConformal { method, mondrian, measure, columns, panels, pool, proven, holds_training, repeats, lambda }
}

/// Adds the fit of full but for its λ.
fn pack_full(pack: &mut Packer, Full { smoother, compared }: &Full) -> f64 {
    let Smoother { lambda, factor, alpha } = smoother;
    let (packed, n) = (factor.packed(), factor.len());
    pack.f64s("conformal.factor", &[packed.len()], &packed);
    pack.f64s("conformal.alpha", &[n, alpha.len() / n.max(1)], alpha);
    pack.u64s("conformal.compared", &[compared.len()], &compared.iter().map(|&i| i as u64).collect::<Vec<_>>());
    *lambda
}

/// Reads and checks one of a model with a readout, with probabilities or without, that keeps so many examples.
pub(super) fn unpack(
    stored: &StoredConformal,
    unpack: &Unpacker<'_>,
    readout: &Readout,
    calibrated: bool,
    (examples, gaps): (usize, bool),
) -> Result<Conformal, String> {
    let wrong = |what: &str| Err(format!("its conformal predictor {what}"));
    let StoredConformal { method, mondrian, measure, columns, proven, holds_training, .. } = *stored;
    let repeats = stored.repeats.unwrap_or_default();
    let proven = proven && !holds_training && repeats.refusal("").is_none();
    let form = readout.form();
    let fits = match measure {
        Measure::Probability => form.is_some() && calibrated && method == Method::Split,
        Measure::Margin => form.is_some() && method != Method::Full,
        Measure::Residual => matches!(readout, Readout::Values { .. }) && !mondrian,
        Measure::Novelty => matches!(readout, Readout::Novelty) && !mondrian && method != Method::Full,
    };
    let wanted = match form {
        Some((_, labels)) if mondrian => labels,
        Some(_) => 1,
        None => readout.outputs(),
    };
    if !fits || columns != wanted || columns == 0 {
        return wrong("does not fit its readout");
    }
    let (_, scores) = unpack.get_f64s("conformal.scores")?;
    let starts = places(unpack, "conformal.starts", scores.len())?;
    let groups: Vec<Vec<f64>> = starts.windows(2).map(|p| scores[p[0]..p[1]].to_vec()).collect();
    if groups.iter().any(|g| !g.is_sorted() || g.iter().any(|s| s.is_nan())) {
        return wrong("has nonconformities that do not rise");
    }
    let pool = match &stored.pool {
        Some(views) => Some(unpack_views(&unpack.within("conformal.pool."), views, gaps)?),
        None => None,
    };
    let held = pool.as_ref().map_or(examples, crate::data::Dataset::len);
    if method == Method::Full {
        let full = Some(unpack_full(stored.lambda, unpack, columns, held)?);
        return if stored.panels.is_empty() && groups.is_empty() {
            Ok(Conformal {
                method,
                mondrian,
                measure,
                groups,
                columns,
                panels: Vec::new(),
                full,
                pool,
                proven,
                holds_training,
                repeats,
            })
        } else {
            wrong("has models without examples, though none was held out")
        };
    }
    let mut panels = Vec::new();
    for (i, panel) in stored.panels.iter().enumerate() {
        let within = unpack.within(&format!("conformal.panel.{i}."));
        panels.push(unpack_panel(panel, &within, readout, held)?);
    }
    // a sum that cannot pass the number of lists, which are in the file
    let members = if method == Method::Split { 1 } else { panels.iter().map(|p| p.members).sum() };
    let fits = groups.len().checked_div(columns) == Some(members) && groups.len().is_multiple_of(columns);
    if !fits || members == 0 || (method == Method::Split) != panels.is_empty() {
        return wrong("has another number of models than of lists");
    }
    Ok(Conformal {
        method,
        mondrian,
        measure,
        groups,
        columns,
        panels,
        full: None,
        pool,
        proven,
        holds_training,
        repeats,
    })
}

/// The fit of full on so many examples; nothing is larger than what is in the file but for a square of its triangle.
fn unpack_full(lambda: Option<f64>, unpack: &Unpacker<'_>, outputs: usize, examples: usize) -> Result<Full, String> {
    let wrong = || "its conformal predictor has a fit that does not fit its examples".to_owned();
    let lambda = lambda.filter(|l| l.is_finite() && *l > 0.0).ok_or_else(wrong)?;
    let (_, packed) = unpack.get_f64s("conformal.factor")?;
    let factor = Triangle::from_packed(&packed, examples).ok_or_else(wrong)?;
    let (shape, alpha) = finite(unpack.get_f64s("conformal.alpha")?)?;
    let (_, compared) = unpack.get_u64s("conformal.compared")?;
    let compared: Vec<usize> = compared.into_iter().map(|p| usize::try_from(p).unwrap_or(usize::MAX)).collect();
    let rising = compared.windows(2).all(|p| p[0] < p[1]) && compared.last().is_some_and(|&last| last < examples);
    if shape != [examples, outputs] || !rising {
        return Err(wrong());
    }
    Ok(Full { smoother: Smoother { lambda, factor, alpha }, compared })
}

fn unpack_panel(
    stored: &StoredPanel,
    unpack: &Unpacker<'_>,
    readout: &Readout,
    examples: usize,
) -> Result<Panel, String> {
    let wrong = || "its conformal predictor has a model that does not fit".to_owned();
    let some;
    let readout = match &stored.known {
        Some(known) => {
            some = sub_readout(readout, known).filter(|_| stored.members == 1).ok_or_else(wrong)?;
            &some
        }
        None => readout,
    };
    let outputs = readout.outputs().checked_mul(stored.members).ok_or_else(wrong)?;
    let expansion = coefficients::unpack(&stored.coefficients, unpack, readout, (outputs, examples))?;
    if stored.members > 1 && !matches!(expansion.coefficients, Coefficients::Dual { .. }) {
        return Err(wrong());
    }
    Ok(Panel { expansion, members: stored.members, known: stored.known.clone() })
}

/// The readout of a model that knows some of the classes, by their places; `None` unless they rise and are at least two.
pub(crate) fn sub_readout(readout: &Readout, known: &[u32]) -> Option<Readout> {
    let pick = |labels: &[String]| -> Option<Vec<String>> {
        let rising = known.len() >= 2 && known.windows(2).all(|k| k[0] < k[1]);
        known.iter().map(|&c| labels.get(c as usize).cloned()).collect::<Option<Vec<_>>>().filter(|_| rising)
    };
    match readout {
        Readout::ArgMax { labels } => Some(Readout::ArgMax { labels: pick(labels)? }),
        Readout::Vote { labels } => Some(Readout::Vote { labels: pick(labels)? }),
        _ => None,
    }
}
