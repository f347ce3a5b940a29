"""Crawl a site once with Scrapy: URL STORE. Robots obeyed, HTTP cache by RFC 9111's forerunner kept in STORE."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

url, store = sys.argv[1], Path(sys.argv[2])
texts: list[str] = []


class Site(CrawlSpider):
    """Every page below the start, as its text."""

    name = "site"
    start_urls = (url,)
    rules = (Rule(LinkExtractor(allow=(url,)), callback="page", follow=True),)

    def parse_start_url(self, response: Any, **_settings: Any) -> Any:
        return self.page(response)

    def page(self, response: Any) -> Iterator[dict[str, str]]:
        texts.append(" ".join(response.css("body ::text").getall()))
        yield {"url": response.url}


settings = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 4,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_DELAY": 0,
    "HTTPCACHE_ENABLED": True,
    "HTTPCACHE_DIR": str(store / "http"),
    "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
}
began = time.perf_counter()
process = CrawlerProcess(settings)
process.crawl(Site)
process.start()
sys.stdout.write(
    json.dumps({"version": scrapy.__version__, "seconds": time.perf_counter() - began, "pages": len(texts)}) + "\n"
)
