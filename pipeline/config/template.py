"""The `brain.toml` that `brain init` writes."""

_OFFERED = '# embedder = "minilm" #'


def template(embedder: str | None) -> str:
    """Return the text of a new file, with an embedder when one was chosen."""
    return TEMPLATE if embedder is None else TEMPLATE.replace(_OFFERED, f'embedder = "{embedder}"  #')


TEMPLATE = """\
# The configuration of this brain. `brain config schema` prints every key there is,
# `brain config show` what is in force.
# Keys that hold a path or a secret may say ${VAR}, ${VAR:-default} or ${file:/path/of/a/secret}.

[brain]
root = "root"       # where memory hangs in the tree: root, or a node such as "team:acme"
data = ".brain"     # state and memory live in this folder, readable by you alone
# scrub = "secrets" # redact keys, tokens and passwords before anything is stored; all: personal numbers too

[engine]
kind = "local"      # one SQLite file in the data folder; nothing leaves this machine
# embedder = "minilm" # search by meaning too, here: pip install "corebrain[semantic]"

# [context]
# file = "context.md"     # what an agent should know when it starts; `brain run` keeps it fresh

# [documents]
# timeout_s = 30          # seconds one document may take
# max_bytes = "32MiB"     # larger files are set aside
# pdf = "pypdf"           # the parser of a format, where there is a choice

# A source: what `brain sync` keeps up to date. `brain add files ~/handbook` writes one for you.
#
# [sources.handbook]
# kind = "files"
# path = "~/handbook"
# include = ["**/*"]      # or such as ["*.pdf", "docs/**/*.md"]
# exclude = ["drafts/"]
# max_delete = 0.3        # a sync that would delete a greater share stops and asks
# root = "team:hr"        # file it below another root: who reads [brain] root = "team:acme" does not see it
"""
