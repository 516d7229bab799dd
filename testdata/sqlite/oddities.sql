-- One database with every oddity of SQLite that has to survive the way through
-- text. Statements are run in order; nothing here depends on a clock.
PRAGMA user_version = 41;
PRAGMA application_id = -7;

-- cells of every class, also where their column would like another one
CREATE TABLE "cells" ("any", "text" TEXT, "num" NUMERIC, "int" INTEGER, "real" REAL, "blob" BLOB, "when" DATETIME, "day" DATE, "flag" BOOLEAN);
INSERT INTO cells VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO cells VALUES (0, '0', 0, 0, 0.0, x'', '2026-01-02 03:04:05', '2026-01-02', 1);
INSERT INTO cells VALUES (9007199254740993, 'é', 9007199254740993, 9223372036854775807, -9.5e-300, x'00', 'not a time', 20260102, 'true');
INSERT INTO cells VALUES (-9223372036854775808, '日本語', -0.5, -1, 9e999, x'7b7d', 1767323045, NULL, 'false');
INSERT INTO cells VALUES (-9e999, char(0x2028), 1e300, 1.5, -9e999, x'ff', '2026-01-02T03:04:05.678Z', 'x', 2);
INSERT INTO cells VALUES (1.0, CAST(x'610062' AS TEXT), 'x', 'text', 'text', 'text', x'3132', x'', x'74727565');
INSERT INTO cells VALUES (CAST(x'fffe' AS TEXT), CAST(x'eda080' AS TEXT), x'31', x'31', x'31', CAST(x'ff' AS TEXT), '', '', '');
INSERT INTO cells VALUES ('{"a":1,"a":2.0,"b":[1e5000000,"\ud800"]}', '[]', '{"x":"y"}', '{', '{}', '{"text":1}', '[1]', '"s"', 'null');
INSERT INTO cells VALUES (x'7b2261223a317d', '7b2261223a317d', '7B7D', '5b5d', ' {}', '{} ', '{"a":1}x', '{"a":"' || char(10) || '"}', '{' || char(10) || '}');
INSERT INTO cells VALUES ('', '''"\/' || char(1, 7, 8, 9, 10, 12, 13, 27, 127, 133, 155), 1, 1, 1.0, 1, 1, 1, 1);
INSERT INTO cells VALUES (-0.0, '-0.0', '-0.0x', 1, -0.0, -0.0, -0.0, -0.0, -0.0);

-- row ids with gaps, below zero, at both ends
CREATE TABLE gaps(v);
INSERT INTO gaps(rowid, v) VALUES (-9223372036854775808, 'first'), (-1, 'minus'), (5, 'five'), (9223372036854775807, 'last');
DELETE FROM gaps WHERE rowid = 5;

-- keys that are NULL or occur twice
CREATE TABLE ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES (NULL, 'a'), (NULL, 'b'), ('k', NULL), ('K', 'upper'), (x'6b', 'a blob that looks like k');

-- row ids that are a column, that are hidden by one, that do not exist
CREATE TABLE alias(id INTEGER PRIMARY KEY DESC, v);
CREATE TABLE real_alias(v, id INTEGER PRIMARY KEY);
INSERT INTO real_alias VALUES ('x', 7), ('y', 3);
INSERT INTO alias VALUES (2, 'b'), (1, 'a');
CREATE TABLE shadowed(rowid TEXT, _rowid_ TEXT);
INSERT INTO shadowed VALUES ('a', 'b'), ('c', 'd');
CREATE TABLE without(k TEXT, n INT, v, PRIMARY KEY(n DESC, k)) WITHOUT ROWID;
INSERT INTO without VALUES ('a', 1, 'x'), ('b', 1, 'y'), ('a', 2, x'00');
CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT, v);
INSERT INTO auto(v) VALUES ('a'), ('b'), ('c');
DELETE FROM auto WHERE id = 3;
CREATE TABLE auto2(id INTEGER PRIMARY KEY AUTOINCREMENT);
INSERT INTO auto2 VALUES (900);
DELETE FROM auto2;

-- strict, generated, collated, defaulted, checked and altered tables
CREATE TABLE strict_one(i INT, r REAL, t TEXT, b BLOB, a ANY) STRICT;
INSERT INTO strict_one VALUES (1, 2, '3', x'34', 5.0), (NULL, 1.5, '', x'', 'any');
CREATE TABLE made(a INT, twice INT GENERATED ALWAYS AS (a * 2) VIRTUAL, b TEXT, thrice INT AS (a * 3) STORED);
INSERT INTO made(a, b) VALUES (1, 'x'), (21, 'y');
CREATE TABLE checked(v CHECK (v < 10), w NOT NULL DEFAULT 'd', c TEXT COLLATE NOCASE UNIQUE ON CONFLICT IGNORE);
PRAGMA ignore_check_constraints = ON;
INSERT INTO checked VALUES (99, 'breaks its check', 'a'), (1, 'fine', 'b');
PRAGMA ignore_check_constraints = OFF;
CREATE TABLE altered(a, b);
INSERT INTO altered VALUES (1, 2);
ALTER TABLE altered ADD COLUMN c TEXT DEFAULT 'later';
ALTER TABLE altered RENAME COLUMN b TO "b two";
INSERT INTO altered VALUES (3, 4, 'now');
ALTER TABLE altered RENAME TO "re named";
CREATE TABLE parent(id PRIMARY KEY);
CREATE TABLE child(p REFERENCES parent(id) ON DELETE CASCADE);
INSERT INTO child VALUES ('an orphan, as foreign keys are off by default');

-- names that need quoting, or differ from others only on some file systems
CREATE TABLE "a ""quoted"" name/with\odd:chars?" ("a ""col""", [b col], `c``col`, 'd');
INSERT INTO "a ""quoted"" name/with\odd:chars?" VALUES (1, 2, 3, 4);
CREATE TABLE "Ünï"(v); INSERT INTO "Ünï" VALUES (1);
CREATE TABLE "ünï"(v); INSERT INTO "ünï" VALUES (2);
CREATE TABLE "con"(v); INSERT INTO "con" VALUES (1);
CREATE TABLE "manifest"(v); INSERT INTO "manifest" VALUES (1);
CREATE TABLE "records"(v); INSERT INTO "records" VALUES (1);
CREATE TABLE "select"(v); INSERT INTO "select" VALUES (1);
CREATE TABLE empty(a, b, c);

-- indexes, a view, and a trigger that would change rows if it ran again
CREATE INDEX plain_index ON gaps(v);
CREATE UNIQUE INDEX part_index ON cells("text" COLLATE NOCASE DESC) WHERE "text" > 'zzz';
CREATE INDEX expr_index ON cells(length("any"), "int" + 1);
CREATE INDEX cover ON ItemTable(value, key);
CREATE VIEW seen AS SELECT g.v, (SELECT count(*) FROM cells) AS n FROM gaps AS g; -- a comment at the end
CREATE TRIGGER tr AFTER INSERT ON gaps WHEN new.v <> ';' BEGIN
  INSERT INTO auto(v) VALUES ('from the trigger; END');
  DELETE FROM parent;
END;
CREATE TABLE span(start, end);
CREATE TRIGGER te AFTER INSERT ON span BEGIN UPDATE span SET end=new.start WHERE start=new.start; END;
CREATE TRIGGER tc AFTER DELETE ON span BEGIN SELECT CASE WHEN old.end > 1 THEN 'x;' ELSE "end" END FROM span; END -- really
;
CREATE TRIGGER tv INSTEAD OF INSERT ON seen BEGIN SELECT 1; END;

-- virtual tables keep their rows in shadow tables
CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize = 'porter ascii');
INSERT INTO words VALUES ('one', 'the quick brown fox'), ('two', 'jumps; over');
CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1);
INSERT INTO boxes VALUES (1, 0, 1, 0, 1), (2, -5.5, 5.5, -1, 1);

ANALYZE;
CREATE TABLE last_one(v);
INSERT INTO last_one VALUES ('after everything');
