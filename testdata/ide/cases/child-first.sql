-- A subagent comes before the session that started it, in the order of their ids. The list
-- of sessions does not say that it is one: only its own record names its parent.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
 ('composer.composerHeaders', '{"allComposers":[{"composerId":"a-kid","name":"Find the parser"},{"composerId":"z-main","name":"Mend the parser"}]}');
INSERT INTO cursorDiskKV VALUES
 ('composerData:a-kid', '{"_v":18,"composerId":"a-kid","name":"Find the parser","createdAt":1790000001000,"subagentInfo":{"parentComposerId":"z-main"},"fullConversationHeadersOnly":[{"bubbleId":"k1","type":1},{"bubbleId":"k2","type":2}]}'),
 ('composerData:z-main', '{"_v":18,"composerId":"z-main","name":"Mend the parser","createdAt":1790000000000,"subagentComposerIds":["a-kid"],"fullConversationHeadersOnly":[{"bubbleId":"m1","type":1},{"bubbleId":"m2","type":2}]}'),
 ('bubbleId:a-kid:k1', '{"type":1,"bubbleId":"k1","text":"find the parser"}'),
 ('bubbleId:a-kid:k2', '{"type":2,"bubbleId":"k2","text":"it is in the folder dates"}'),
 ('bubbleId:z-main:m1', '{"type":1,"bubbleId":"m1","text":"mend the parser"}'),
 ('bubbleId:z-main:m2', '{"type":2,"bubbleId":"m2","capabilityType":15,"toolFormerData":{"tool":48,"name":"task_v2","toolCallId":"call-1","rawArgs":"{\"prompt\":\"find the parser\"}","status":"completed","result":"{\"done\":true}"}}');
