"""Crawl a site once with crawl4ai over plain HTTP: URL STORE PAGES. Pages become markdown; the cache is in STORE."""

import asyncio
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

url, store, most = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
os.environ["CRAWL4_AI_BASE_DIRECTORY"] = str(store)

from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig  # noqa: E402 - reads it at import
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy  # noqa: E402
from crawl4ai.deep_crawling import BFSDeepCrawlStrategy  # noqa: E402


async def main() -> int:
    way = BFSDeepCrawlStrategy(max_depth=50, max_pages=most, include_external=False)
    config = CrawlerRunConfig(
        deep_crawl_strategy=way,
        cache_mode=CacheMode.ENABLED,
        check_cache_freshness=True,
        check_robots_txt=True,
        semaphore_count=4,
        mean_delay=0,
        max_range=0,
        verbose=False,
    )
    strategy = AsyncHTTPCrawlerStrategy(browser_config=HTTPCrawlerConfig(), max_connections=4)
    async with AsyncWebCrawler(crawler_strategy=strategy, verbose=False) as crawler:
        results: Any = await crawler.arun(url, config=config)
    return sum(bool(result.success and result.markdown) for result in results)


began = time.perf_counter()
pages = asyncio.run(main())
sys.stdout.write(
    "\n" + json.dumps({"version": version("crawl4ai"), "seconds": time.perf_counter() - began, "pages": pages}) + "\n"
)
