-- A conversation of 2025 that was compacted.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"_v":9,"composerId":"c1","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":1},{"bubbleId":"b4","type":2}],"latestConversationSummary":{"summary":{"summary":"First they said hello."},"truncationLastBubbleIdInclusive":"b2","clientShouldStartSendingFromInclusiveBubbleId":"b3","lastBubbleId":"b2"}}'),
 ('bubbleId:c1:b1', '{"type":1,"bubbleId":"b1","text":"hello"}'),
 ('bubbleId:c1:b2', '{"type":2,"bubbleId":"b2","text":"hello yourself"}'),
 ('bubbleId:c1:b3', '{"type":1,"bubbleId":"b3","text":"what did I say?"}'),
 ('bubbleId:c1:b4', '{"type":2,"bubbleId":"b4","text":"Hello."}');
