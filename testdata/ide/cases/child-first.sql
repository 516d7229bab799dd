-- A subagent comes before the session that started it, in the order of their ids. The list
-- of sessions does not say that it is one: only its own record names its parent. Another session
-- does not name its subagents either, before and after it.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
 ('composer.composerHeaders', '{"allComposers":[{"composerId":"a-kid","name":"Find the parser"},{"composerId":"z-main","name":"Mend the parser"},
  {"composerId":"b-kid","name":"Read the notes"},{"composerId":"m-main","name":"Write the notes"},{"composerId":"n-kid","name":"Check the notes"}]}');
INSERT INTO cursorDiskKV VALUES
 ('composerData:a-kid', '{"_v":18,"composerId":"a-kid","name":"Find the parser","createdAt":1790000001000,"subagentInfo":{"parentComposerId":"z-main"},"fullConversationHeadersOnly":[{"bubbleId":"k1","type":1},{"bubbleId":"k2","type":2}]}'),
 ('composerData:z-main', '{"_v":18,"composerId":"z-main","name":"Mend the parser","createdAt":1790000000000,"subagentComposerIds":["a-kid"],"fullConversationHeadersOnly":[{"bubbleId":"m1","type":1},{"bubbleId":"m2","type":2}]}'),
 ('bubbleId:a-kid:k1', '{"type":1,"bubbleId":"k1","text":"find the parser"}'),
 ('bubbleId:a-kid:k2', '{"type":2,"bubbleId":"k2","text":"it is in the folder dates"}'),
 ('bubbleId:z-main:m1', '{"type":1,"bubbleId":"m1","text":"mend the parser"}'),
 ('bubbleId:z-main:m2', '{"type":2,"bubbleId":"m2","capabilityType":15,"toolFormerData":{"tool":48,"name":"task_v2","toolCallId":"call-1","rawArgs":"{\"prompt\":\"find the parser\"}","status":"completed","result":"{\"done\":true}"}}'),
 ('composerData:b-kid', '{"_v":18,"composerId":"b-kid","name":"Read the notes","subagentInfo":{"parentComposerId":"m-main"},"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
 ('composerData:m-main', '{"_v":18,"composerId":"m-main","name":"Write the notes","fullConversationHeadersOnly":[{"bubbleId":"w1","type":1}]}'),
 ('composerData:n-kid', '{"_v":18,"composerId":"n-kid","name":"Check the notes","subagentInfo":{"parentComposerId":"m-main"},"fullConversationHeadersOnly":[{"bubbleId":"n1","type":1}]}'),
 ('bubbleId:b-kid:b1', '{"type":1,"bubbleId":"b1","text":"read the notes"}'),
 ('bubbleId:m-main:w1', '{"type":1,"bubbleId":"w1","text":"write the notes"}'),
 ('bubbleId:n-kid:n1', '{"type":1,"bubbleId":"n1","text":"check the notes"}');
