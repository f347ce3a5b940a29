"""Follow a folder once with LlamaIndex: an IngestionPipeline with a docstore that upserts and deletes."""

import json
import sys
import time
from pathlib import Path

from llama_index.core import MockEmbedding, SimpleDirectoryReader
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore

root, store = Path(sys.argv[1]), Path(sys.argv[2])
documents, vectors = store / "docstore.json", store / "vectors.json"
docstore = SimpleDocumentStore.from_persist_path(str(documents)) if documents.exists() else SimpleDocumentStore()
vector_store = SimpleVectorStore.from_persist_path(str(vectors)) if vectors.exists() else SimpleVectorStore()
pipeline = IngestionPipeline(
    transformations=[SentenceSplitter(), MockEmbedding(embed_dim=2)],
    docstore=docstore,
    vector_store=vector_store,
    docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
)
began = time.perf_counter()
if any(root.rglob("*.md")):
    read = SimpleDirectoryReader(str(root), recursive=True, filename_as_id=True).load_data()
else:
    read = []  # the reader refuses an empty folder
pipeline.run(documents=read)
docstore.persist(str(documents))
vector_store.persist(str(vectors))
seconds = time.perf_counter() - began
searchable = set(vector_store.data.text_id_to_ref_doc_id.values())
texts = [node.get_content() for node in docstore.docs.values() if node.id_ in searchable]
sys.stdout.write(json.dumps({"seconds": seconds, "texts": texts}) + "\n")
