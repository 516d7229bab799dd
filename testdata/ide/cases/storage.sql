-- What SQLite says besides the JSON: NULL values (deleted), the JSON word null,
-- values as BLOB, a NULL key, orphans, bubbles that are missing or listed twice,
-- an older root, two heads with one id.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerHeaders', '{"allComposers":[{"composerId":"c1","name":"The first head counts"},{"composerId":"c1","name":"The second head"},{"name":"no id"}]}');
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', CAST('{"composerId":"c1","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"gone","type":2},{"bubbleId":"b2","type":2},{"bubbleId":"null","type":1},{"type":2},{"bubbleId":"word","type":2}]}' AS BLOB)),
 ('bubbleId:c1:b1', CAST('{"type":1,"bubbleId":"b1","text":"as a BLOB — é"}' AS BLOB)),
 ('bubbleId:c1:b2', '{"type":2,"bubbleId":"b2","text":"as TEXT"}'),
 ('bubbleId:c1:null', NULL),
 ('bubbleId:c1:word', 'null'),
 ('bubbleId:c1:orphan', '{"type":2,"bubbleId":"orphan","text":"asked anew"}'),
 ('composerData:c2', NULL),
 ('bubbleId:c2:b1', '{"type":1,"bubbleId":"b1","text":"of a deleted session"}'),
 ('composerData:c3', 'null'),
 ('composerData:c4', '{"composerId":"c4","fullConversationHeadersOnly":'),
 (NULL, 'a row without a key'), (x'ff00', 'a key that is no text');
