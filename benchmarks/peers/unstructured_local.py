"""Follow a folder once with unstructured-ingest: local to local.

Its tokenizer, which would download a spaCy model, is replaced by the plain one that corebrain gives unstructured too;
all it does is tell prose from headings, which no step of the comparison looks at.
"""

import importlib.util
import json
import logging
import sys
import time
from pathlib import Path

from unstructured_ingest.interfaces import ProcessorConfig
from unstructured_ingest.pipeline.pipeline import Pipeline
from unstructured_ingest.processes.connectors.local import (
    LocalConnectionConfig,
    LocalDownloaderConfig,
    LocalIndexerConfig,
    LocalUploaderConfig,
)
from unstructured_ingest.processes.partitioner import PartitionerConfig

PLAIN = Path(__file__).parents[2] / "corebrain" / "documents" / "convert" / "plain_tokenizer.py"
NAME = "unstructured.nlp.tokenize"
spec = importlib.util.spec_from_file_location(NAME, PLAIN)
if spec is not None and spec.loader is not None:
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])

root, store = Path(sys.argv[1]), Path(sys.argv[2])
logging.disable(logging.CRITICAL)


def main() -> None:
    began = time.perf_counter()
    Pipeline.from_configs(
        context=ProcessorConfig(work_dir=str(store / "work"), num_processes=2, tqdm=False),
        indexer_config=LocalIndexerConfig(input_path=str(root), recursive=True),
        downloader_config=LocalDownloaderConfig(),
        source_connection_config=LocalConnectionConfig(),
        partitioner_config=PartitionerConfig(strategy="fast"),
        uploader_config=LocalUploaderConfig(output_dir=str(store / "out")),
    ).run()
    seconds = time.perf_counter() - began
    files = (store / "out").rglob("*.json")
    texts = [" ".join(element["text"] for element in json.loads(file.read_text())) for file in files]
    sys.stdout.write(json.dumps({"seconds": seconds, "texts": texts}) + "\n")


if __name__ == "__main__":  # it starts processes
    main()
