"""Follow a folder once with LangChain: its indexing API with a record manager, cleanup "full"."""

import json
import sys
import time
from pathlib import Path

from langchain_classic.indexes import SQLRecordManager
from langchain_community.document_loaders import DirectoryLoader, TextLoader
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import index
from langchain_core.vectorstores import InMemoryVectorStore

root, store = Path(sys.argv[1]), Path(sys.argv[2])
kept = store / "vectors.json"
embedding = DeterministicFakeEmbedding(size=2)
vectors = InMemoryVectorStore.load(str(kept), embedding) if kept.exists() else InMemoryVectorStore(embedding)
records = SQLRecordManager("docs", db_url=f"sqlite:///{store}/records.db")
records.create_schema()
began = time.perf_counter()
loader = DirectoryLoader(str(root), glob="**/*.md", loader_cls=TextLoader)
index(loader, records, vectors, cleanup="full", source_id_key="source", key_encoder="sha256")
vectors.dump(str(kept))
seconds = time.perf_counter() - began
texts = [held["text"] for held in vectors.store.values()]
sys.stdout.write(json.dumps({"seconds": seconds, "texts": texts}) + "\n")
