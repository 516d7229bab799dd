-- Heads in the workspace, bodies in the global database: 2025 up to 2.6. A
-- bubble can stand in conversationMap, and its row wins over that.
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json
{"folder":"file:///c%3A/Users/Ana/shop"}
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[{"composerId":"c1","name":"From the head","createdAt":1750000000000,"lastUpdatedAt":1750000090000,"unifiedMode":"agent","subtitle":"Edited a.go","totalLinesAdded":3,"newHeadMember":{"x":1}}],"selectedComposerIds":["c1"]}');
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"_v":3,"composerId":"c1","createdAt":1750000000000,"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2,"serverBubbleId":"s2"},{"bubbleId":"b3","type":2}],"conversationMap":{"b1":{"type":1,"bubbleId":"b1","text":"rename it"},"b2":{"type":2,"bubbleId":"b2","text":"old words"},"b3":{"type":2,"bubbleId":"b3","text":"Only in the map."},"b9":{"type":2,"bubbleId":"b9","text":"listed by nobody"}},"status":"completed"}'),
 ('bubbleId:c1:b1', '{"_v":2,"type":1,"bubbleId":"b1","text":"rename it"}'),
 ('bubbleId:c1:b2', '{"_v":2,"type":2,"bubbleId":"b2","serverBubbleId":"s2","text":"The row wins."}');
