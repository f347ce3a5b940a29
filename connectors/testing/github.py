"""GitHub on loopback over local git repositories: `python -m connectors.testing.github PATH…`.

Each PATH is a repository or a folder of them; it is served as `<parent folder>/<folder>`.

```text
curl URL/_log                                          the requests so far, with their status
curl -d '{"match": "git/trees", "status": 429, "times": 3, "headers": {"Retry-After": "2"}}' URL/_fail
```
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from connectors.testing.github_repository import Repository, git
from connectors.testing.github_server import GitHubServer


def repositories(paths: Iterable[Path]) -> Iterator[Repository]:
    """Find the repositories that *paths* are, or that lie directly below them."""
    found = (folder for path in paths for folder in ([path] if _is_repository(path) else sorted(path.iterdir())))
    for number, folder in enumerate(filter(_is_repository, found), start=1):
        branch = git(folder, "symbolic-ref", "--short", "HEAD").decode().strip()
        full = folder.resolve()
        yield Repository(full.parent.name, full.name.removesuffix(".git"), full, number, branch)


def _is_repository(folder: Path) -> bool:
    return (folder / ".git").exists() or (folder / "HEAD").is_file()


def main(arguments: list[str] | None = None) -> int:
    """Serve repositories until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m connectors.testing.github", description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path, help="repositories, or folders of them")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options = parser.parse_args(arguments)
    found = list(repositories(options.paths))
    server = GitHubServer(found, port=options.port)
    sys.stdout.write(f"{server.url} serves {', '.join(repo.full_name for repo in found)}\n")
    sys.stdout.flush()
    try:
        server.serve()
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
