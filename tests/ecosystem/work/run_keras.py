"""keras with torch behind it: a network compiled, fitted, saved and read, its layers and operations."""

import os
import tempfile

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from shown import show

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8, 8, 1)).astype("float32")
y = (x.mean((1, 2, 3)) > 0).astype("int64")
layers = keras.layers
model = keras.Sequential([
    layers.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D(),
    layers.Flatten(), layers.Dense(8, activation="gelu"), layers.Dense(2),
])  # fmt: skip
weights = [rng.normal(size=w.shape).astype("float32") * 0.1 + (1 if "var" in w.path else 0) for w in model.weights]
model.set_weights(weights)
model.compile(
    keras.optimizers.AdamW(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
history = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
show("fitted", [history.history[name] for name in ("loss", "accuracy")])
show("evaluated", model.evaluate(x, y, verbose=0))
show("predicted", model.predict(x[:4], verbose=0).tolist())
path = os.path.join(tempfile.mkdtemp(), "model.keras")
model.save(path)
show("read", keras.models.load_model(path).predict(x[:4], verbose=0).tolist())
words = keras.Input((6,), dtype="int32")
hidden = layers.Embedding(20, 8)(words)
hidden = layers.Add()([hidden, layers.MultiHeadAttention(2, 4)(hidden, hidden)])
hidden = layers.LSTM(5, return_sequences=True)(layers.LayerNormalization()(hidden))
outputs = layers.Dense(1)(layers.GRU(3)(hidden))
text = keras.Model(words, outputs)
text.set_weights([rng.normal(size=w.shape).astype("float32") * 0.2 for w in text.weights])
text.compile("rmsprop", "mse")
tokens = rng.integers(0, 20, (16, 6))
history = text.fit(tokens, tokens.mean(1), batch_size=8, epochs=2, shuffle=False, verbose=0)
show("text", history.history["loss"])
show(
    "operations",
    keras.ops.convert_to_numpy(
        keras.ops.softmax(keras.ops.einsum("ij,kj->ik", x[:3, 0, :, 0], x[:2, 1, :, 0]))
    ).tolist(),
)
