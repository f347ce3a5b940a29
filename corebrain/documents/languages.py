"""Names of programming languages by file name (spec 07 section 1); they land in `meta.language`, which is hashed."""

import re

_NAMES: dict[str, str] = {
    "Dockerfile": "dockerfile",
    "Containerfile": "dockerfile",
    "Makefile": "makefile",
    "makefile": "makefile",
    "GNUmakefile": "makefile",
    "CMakeLists.txt": "cmake",
    "Rakefile": "ruby",
    "Gemfile": "ruby",
    "Justfile": "just",
    "justfile": "just",
}
_PREFIXES = ("Dockerfile.", "Containerfile.")

_EXTENSIONS_OF: dict[str, str] = {
    "rust": "rs",
    "python": "py pyi",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "java": "java",
    "kotlin": "kt kts",
    "swift": "swift",
    "c": "c h",
    "cpp": "cpp cc cxx hpp hh hxx",
    "csharp": "cs",
    "ruby": "rb",
    "php": "php",
    "scala": "scala",
    "shell": "sh bash zsh fish",
    "powershell": "ps1",
    "sql": "sql",
    "lua": "lua",
    "r": "r",
    "objective-c": "m mm",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs",
    "ocaml": "ml mli",
    "clojure": "clj cljs edn",
    "perl": "pl pm",
    "julia": "jl",
    "toml": "toml",
    "yaml": "yaml yml",
    "json": "json jsonc",
    "xml": "xml",
    "css": "css",
    "scss": "scss",
    "sass": "sass",
    "less": "less",
    "vue": "vue",
    "svelte": "svelte",
    "zig": "zig",
    "nim": "nim",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "terraform": "tf",
    "dockerfile": "dockerfile",
    "makefile": "mk",
    "cmake": "cmake",
    "groovy": "gradle groovy",
    "solidity": "sol",
}
_BY_EXTENSION = {extension: name for name, line in _EXTENSIONS_OF.items() for extension in line.split()}
_SEPARATORS = re.compile(r"[/\\]")


def last_component(path: str) -> str:
    """The part after the last `/` or `\\`."""  # noqa: D301 - one backslash is meant
    return _SEPARATORS.split(path)[-1]


def extension_of(path: str) -> str:
    """The lower-cased text after the last dot of the name; empty without one, and for `.name`."""
    name = last_component(path)
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def language_for_path(path: str) -> str | None:
    """The language of the file of that name, or `None`: exact names first, then the extension (spec 07).

    Args:
        path: A name or a path with `/` or `\\`; only its last component counts.
    """  # noqa: D301 - one backslash is meant
    name = last_component(path)
    if name in _NAMES:
        return _NAMES[name]
    if name.startswith(_PREFIXES):
        return "dockerfile"
    return _BY_EXTENSION.get(extension_of(name))
