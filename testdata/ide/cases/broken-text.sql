-- JSON that is not quite: duplicate members, bytes that are no UTF-8, halves of
-- surrogate pairs, line ends, a secret.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"composerId":"c1","blobEncryptionKey":"planted-token-0007","speculativeSummarizationEncryptionKey":"planted-token-0008","name":"first","name":"second","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":2}]}'),
 ('bubbleId:c1:b1', '{"type":1,"bubbleId":"b1","text":"overwritten","text":"half \ud83d of a pair, and a whole \ud83d\ude00","unknown":1,"unknown":2}'),
 ('bubbleId:c1:b2', CAST(x'7b2274797065223a322c22627562626c654964223a226232222c2274657874223a226c6174696e20e92062797465227d' AS TEXT)),
 ('bubbleId:c1:b3', '{
  "type": 2,
  "bubbleId": "b3",
  "text": "spread over\nlines",
  "stranger": { "a": [ 1, 2 ] }
 }');
