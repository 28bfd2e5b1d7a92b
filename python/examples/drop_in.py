"""The same pipeline with scikit-learn's classifier and with mercer's: only the class changes."""

from __future__ import annotations

import mercer
from sklearn import svm
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler


def pipeline(classifier: object) -> Pipeline:
    """Scaled features, then the classifier."""
    return make_pipeline(StandardScaler(), classifier)


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    theirs = pipeline(svm.SVC(C=2)).fit(X_train, y_train)
    ours = pipeline(mercer.SVC(C=2)).fit(X_train, y_train)
    print(f"scikit-learn: accuracy {theirs.score(X_test, y_test):.3f}, {len(theirs[-1].support_)} support vectors")
    print(f"mercer:       accuracy {ours.score(X_test, y_test):.3f}, {len(ours[-1].support_)} support vectors")
    print(f"mercer's solver: {ours[-1].status_}, duality gap {ours[-1].duality_gap_:.2g}")

    # or without an edit: classes imported from here on are mercer's
    mercer.patch_sklearn()
    print(f"sklearn.svm.SVC is now {svm.SVC.__module__}.SVC")
    mercer.unpatch_sklearn()


if __name__ == "__main__":
    main()
