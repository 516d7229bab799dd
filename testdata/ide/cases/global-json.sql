-- Heads of all workspaces as one record: 3.0. The workspace's own record is a
-- stub, and where a session belongs is said in its head.
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"selectedComposerIds":["c1"],"hasMigratedComposerData":true,"hasMigratedMultipleComposers":true}');
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerHeaders', '{"allComposers":[
 {"type":"head","composerId":"c1","name":"Fix the build","createdAt":1775100000000,"lastUpdatedAt":1775100300000,"workspaceIdentifier":{"id":"0123456789abcdef0123456789abcdef","uri":{"$mid":1,"fsPath":"/home/ana/shop","external":"file:///home/ana/shop","path":"/home/ana/shop","scheme":"file"}}},
 {"type":"head","composerId":"c2","name":"Nothing is left of it","createdAt":1775100000001}]}');
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"_v":14,"composerId":"c1","name":"Fix the build","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}],"conversationMap":{}}'),
 ('composerData:c3', '{"_v":14,"composerId":"c3","name":"In no list","createdAt":1775100000002,"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}],"workspaceIdentifier":{"id":"empty-window"}}'),
 ('bubbleId:c1:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"the build is red","createdAt":"2026-04-02T07:20:00.123Z"}'),
 ('bubbleId:c3:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"known by its key alone"}');
