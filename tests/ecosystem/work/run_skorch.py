"""skorch: a network on scikit-learn's digits, with callbacks, a pipeline and a search over its settings."""

import os
import tempfile

import numpy as np
import torch
from shown import show
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier
from skorch.callbacks import EarlyStopping, EpochScoring, LRScheduler
from torch import nn

X, y = load_digits(return_X_y=True)
X, y = X.astype(np.float32), y.astype(np.int64)
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Dropout(0.2), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.layers(x)


net = NeuralNetClassifier(
    Net, criterion=nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=0.01, max_epochs=8, batch_size=64, verbose=0,
    callbacks=[
        EpochScoring("accuracy", lower_is_better=False, name="valid_accuracy"), EarlyStopping(patience=5),
        LRScheduler(policy="StepLR", step_size=4, gamma=0.5),
    ],
)  # fmt: skip
pipeline = Pipeline([("scale", StandardScaler()), ("net", net)])
pipeline.fit(X, y)
show("history", [[row["train_loss"], row["valid_loss"], row["valid_accuracy"]] for row in net.history])
show("score", pipeline.score(X, y))
show("chances", torch.from_numpy(pipeline.predict_proba(X[:2])))
file = os.path.join(tempfile.mkdtemp(), "net.pt")
net.save_params(f_params=file)
net.initialize().load_params(f_params=file)
search = GridSearchCV(
    NeuralNetClassifier(Net, criterion=nn.CrossEntropyLoss, max_epochs=2, verbose=0, train_split=None),
    {"lr": [0.01, 0.1], "module__hidden": [8, 16]}, cv=2, scoring="accuracy",
)  # fmt: skip
search.fit(X[:300] / 16, y[:300])
show(
    "search",
    [search.best_params_["lr"], search.best_params_["module__hidden"], list(search.cv_results_["mean_test_score"])],
)
