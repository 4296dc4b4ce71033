"""sentence-transformers: sentences as vectors, by a BERT of its own configuration, trained with two losses."""

import json
import tempfile
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer, losses, models, util
from shown import show, train
from transformers import BertConfig, BertModel, BertTokenizer

folder = Path(tempfile.mkdtemp())
letters = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz",
    *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
]
(folder / "vocab.txt").write_text("\n".join(letters))
torch.manual_seed(0)
BertModel(
    BertConfig(
        vocab_size=len(letters), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
).save_pretrained(folder)
BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
words = models.Transformer(str(folder), max_seq_length=32)
model = SentenceTransformer(modules=[words, models.Pooling(32), models.Dense(32, 8), models.Normalize()], device="cpu")
sentences = ["a cat sat", "the dog ran far", "two birds", "fish swim"]
vectors = model.encode(sentences, convert_to_tensor=True)
show("vectors", vectors)
show("alike", util.cos_sim(vectors, vectors))
show("found", util.semantic_search(vectors[:2], vectors, top_k=2)[0][1]["corpus_id"])
model.eval()
for loss in (losses.MultipleNegativesRankingLoss(model), losses.CosineSimilarityLoss(model)):
    parts = [model.tokenize(sentences[:2]), model.tokenize(sentences[2:])]
    show(
        type(loss).__name__,
        train(model, lambda m: loss([dict(part) for part in parts], torch.tensor([0.9, 0.1])), steps=2),
    )
model.save(str(folder / "saved"))
again = SentenceTransformer(str(folder / "saved"), device="cpu")
show("again", again.encode(sentences, convert_to_tensor=True))
show("kept", sorted(json.loads((folder / "saved" / "modules.json").read_text())[0]))
