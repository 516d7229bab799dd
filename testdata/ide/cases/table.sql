-- Heads in a table: since about 3.9. A subagent, one of an older id, a draft, an
-- archived session, best-of-N children; a parent that lists itself.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT, subagentTypeName TEXT);
INSERT INTO composerHeaders VALUES
 ('parent','0123456789abcdef0123456789abcdef',1785000000000,1785000090000,0,0,1785000090000,NULL,'{"type":"head","composerId":"parent","name":"Plan and delegate","createdAt":1785000000000,"lastUpdatedAt":1785000090000}',NULL),
 ('kid','0123456789abcdef0123456789abcdef',1785000010000,NULL,0,1,1785000010000,NULL,'{"type":"head","composerId":"kid","name":"Explore","createdAt":1785000010000,"subagentInfo":{"parentComposerId":"parent","toolCallId":"call_1","subagentTypeName":"explore"}}','explore'),
 ('task-call_2',NULL,NULL,NULL,0,1,0,NULL,'{"type":"head","composerId":"task-call_2","subagentInfo":{"parentComposerId":"parent"}}',NULL),
 ('shelved',NULL,1785000020000,NULL,1,0,0,NULL,'{"type":"head","composerId":"shelved","name":"Put away","isArchived":true,"createdAt":1785000020000}',NULL),
 ('empty-state-draft',NULL,NULL,NULL,0,0,0,NULL,'{"type":"head","composerId":"empty-state-draft","isDraft":true}',NULL),
 ('no-value',NULL,1785000030000,NULL,0,0,0,NULL,NULL,NULL);
INSERT INTO cursorDiskKV VALUES
 ('composerData:parent', '{"_v":17,"composerId":"parent","name":"Plan and delegate","createdAt":1785000000000,"lastUpdatedAt":1785000090000,"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2}],"subagentComposerIds":["kid","parent"],"subComposerIds":["best-1"],"status":"completed","unifiedMode":"agent","modelConfig":{"modelName":"composer-2","maxMode":false},"contextTokensUsed":1200,"contextTokenLimit":200000,"createdOnBranch":"main","trackedGitRepos":[{"repoPath":"/home/ana/shop","branchName":"main"}],"todos":[{"id":"1","content":"look","status":"completed","dependencies":[]}]}'),
 ('bubbleId:parent:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"plan it","requestId":"r1"}'),
 ('bubbleId:parent:b2', '{"_v":3,"type":2,"bubbleId":"b2","capabilityType":15,"toolFormerData":{"tool":48,"name":"task_v2","toolCallId":"call_1","params":"{\"description\":\"Explore\"}","result":"{\"agentId\":\"kid\"}","status":"completed"}}'),
 ('composerData:kid', '{"_v":17,"composerId":"kid","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}],"subagentInfo":{"parentComposerId":"parent","toolCallId":"call_1","subagentTypeName":"explore","newMember":true}}'),
 ('bubbleId:kid:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"explore it"}'),
 ('composerData:task-call_2', '{"_v":17,"composerId":"task-call_2","fullConversationHeadersOnly":[]}'),
 ('composerData:best-1', '{"_v":17,"composerId":"best-1","isBestOfNSubcomposer":true,"fullConversationHeadersOnly":[]}'),
 ('composerData:shelved', '{"_v":17,"composerId":"shelved","name":"Put away","isArchived":true,"fullConversationHeadersOnly":[]}'),
 ('composerData:empty-state-draft', '{"_v":17,"composerId":"empty-state-draft","isDraft":true,"text":"not sent yet","fullConversationHeadersOnly":[]}');
