"""Tables of the memory file.

Why the word index is many FTS5 tables and not one: the cost of a ranked read grows with the table it walks, even when
a token narrows the result. So each item kind has its own tables, at most `MAX_SHARDS` of them, and all items of one
*branch* (an agent, a collection, a service or a container node, see `nodes.branch_of`) share one. Which table a branch
lives in is data (`placements`, chosen in `placing`), so a later version can move branches without another schema.

The *area* of a node is the first segment of its path, the root's own for the root: what a tenant or a team owns.
"""

from corebrain.model.meta import ItemKind

APPLICATION_ID = 0x43424D31  # "CBM1", SQLite's application_id of every memory file
KIND_CODES = {ItemKind.DOCUMENT: 0, ItemKind.CONVERSATION: 1, ItemKind.LEARNING: 2}
KINDS = tuple(KIND_CODES)
MAX_SHARDS = {ItemKind.DOCUMENT: 64, ItemKind.CONVERSATION: 64, ItemKind.LEARNING: 16}
CUT = ("unicode61", "remove_diacritics", "2", "categories", "L* M* N* Co")
"""FTS5's tokenizer with its arguments: marks belong to words, or every vowel sign of Hindi would end one."""
WORDS = ("porter", *CUT)
"""Tokenizer of the word index."""
TOKENIZE = f'tokenize="{" ".join([*WORDS[:-1], repr(WORDS[-1])])}"'
"""The same as an option of `CREATE VIRTUAL TABLE`."""

BELIEF_WORDS = "text_beliefs"
"""The table of the word index that holds beliefs."""
NO_SHARD = 0
"""Stands for that table where a table's number is asked for."""

TREE = """
-- Nodes of the tree that hold items, and their ancestors. service: depth of the last service segment, 0 without one.
CREATE TABLE nodes(
  node INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, depth INTEGER NOT NULL, service INTEGER NOT NULL,
  branch INTEGER NOT NULL REFERENCES branches, area INTEGER NOT NULL);
CREATE TABLE branches(branch INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, area TEXT NOT NULL);

-- Tables of the word index, text_<shard>. mixed: it holds items below a service segment.
CREATE TABLE shards(
  shard INTEGER PRIMARY KEY, kind INTEGER NOT NULL, passages INTEGER NOT NULL DEFAULT 0,
  mixed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE placements(
  branch INTEGER NOT NULL, kind INTEGER NOT NULL, shard INTEGER NOT NULL REFERENCES shards,
  PRIMARY KEY(branch, kind)) WITHOUT ROWID;

-- Languages other than English that a table holds texts of, as their words were stemmed; some may be gone since.
CREATE TABLE languages(
  language TEXT NOT NULL, shard INTEGER NOT NULL, PRIMARY KEY(language, shard)) WITHOUT ROWID;

-- Items, one column a field. text is a document's body, a learning's text or a conversation's turns as JSON.
-- spoken: the language its words are indexed in, unset for English and unknown ones.
-- Numbers are never reused: cursors rest on them.
CREATE TABLE items(
  item INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL,
  node INTEGER NOT NULL REFERENCES nodes, area INTEGER NOT NULL, passage INTEGER NOT NULL, passages INTEGER NOT NULL,
  workspace TEXT, folder TEXT, file_path TEXT, language TEXT, repo TEXT, revision TEXT, url TEXT, thread_id TEXT,
  first_turn INTEGER NOT NULL DEFAULT -1, last_turn INTEGER, agent_id TEXT, tool TEXT, tool_id TEXT,
  source TEXT NOT NULL, source_id TEXT, tags TEXT, observed_s INTEGER, observed_ns INTEGER, derive INTEGER,
  title TEXT, mime TEXT, learning_kind TEXT, confidence REAL, evidence TEXT, text TEXT NOT NULL, spoken TEXT);
-- The last four columns say which of a page's items are newest, without a look at the items.
CREATE INDEX items_by_node ON items(node, kind, item, observed_s, observed_ns, confidence, last_turn);
CREATE INDEX items_by_kind ON items(kind, item, node, observed_s, observed_ns, confidence, last_turn);
CREATE INDEX items_by_area ON items(area, kind, item, node, observed_s, observed_ns, confidence, last_turn);
CREATE INDEX items_by_thread ON items(thread_id, node, kind, first_turn, item) WHERE thread_id IS NOT NULL;

-- Rows of the word index. start and size are bytes of the body in UTF-8, unset when the item is one passage.
CREATE TABLE passages(
  passage INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL, start INTEGER, size INTEGER,
  first_page INTEGER, last_page INTEGER, section TEXT);
"""
"""The nodes, the items at them, and where their words are indexed."""

REST = """
CREATE TABLE tags(tag TEXT NOT NULL, item INTEGER NOT NULL, PRIMARY KEY(tag, item)) WITHOUT ROWID;

-- How many items of a node and kind have a value of a facet.
CREATE TABLE facets(
  facet TEXT NOT NULL, node INTEGER NOT NULL, kind INTEGER NOT NULL, value TEXT NOT NULL, items INTEGER NOT NULL,
  PRIMARY KEY(facet, node, kind, value)) WITHOUT ROWID;

-- Beliefs drawn from an item, and the items a build has seen.
CREATE TABLE beliefs(
  belief INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL, node INTEGER NOT NULL, confidence REAL NOT NULL,
  observed_s INTEGER, observed_ns INTEGER, learning TEXT NOT NULL);
CREATE INDEX beliefs_by_item ON beliefs(item);
CREATE INDEX beliefs_by_node ON beliefs(node);
CREATE TABLE distilled(item INTEGER PRIMARY KEY);
"""
"""What hangs on items by their numbers."""


def word_index(table: str) -> str:
    """Return the statement that makes one table of the word index.

    Contentless with `contentless_delete`: the text stands once, in `items`. `detail=full`, since bm25 over less ranks
    wrongly without content (measured: SciFact nDCG@10 from 0.686 to 0.003).
    """
    return (
        f"CREATE VIRTUAL TABLE {table} USING fts5(head, body, ctx, tag, content='', contentless_delete=1, "
        f"detail=full, {TOKENIZE})"
    )


def shard(number: int) -> tuple[str, ...]:
    """Return the statements that make a table of the word index and the view of its words.

    A commit merges segments only where eight of a level stand, not four as FTS5 does by itself: that halves the cost
    of storing (measured), and `maintain` merges the rest off the turn.
    """
    table = f"text_{number}"
    return (
        word_index(table),
        f"INSERT INTO {table}({table}, rank) VALUES ('automerge', 8)",  # noqa: S608  # a number of ours
        f"CREATE VIRTUAL TABLE words_{number} USING fts5vocab({table}, row)",
    )
