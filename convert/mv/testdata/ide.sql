-- A user dir: a project folder with sessions of all generations of lists, a folder in it,
-- others that have to stay, and NEW, which the client has opened once.
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/workspace.json
{"folder":"file:///home/ann/%61pp"}
-- file: workspaceStorage/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/workspace.json
{"folder":"file:///home/ann/app/sub"}
-- file: workspaceStorage/cccccccccccccccccccccccccccccccc/workspace.json
{"folder":"file:///home/ann/app2"}
-- file: workspaceStorage/dddddddddddddddddddddddddddddddd/workspace.json
{"workspace":"file:///home/ann/app/all.code-workspace"}
-- file: workspaceStorage/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee/workspace.json
{"folder":"vscode-remote://ssh-remote%2Bhost/home/ann/app"}
-- file: workspaceStorage/ffffffffffffffffffffffffffffffff/workspace.json
{"folder":"NEW"}
-- file: workspaceStorage/0000000000000000000000000000000a/workspace.json
{"folder":["../../../../etc"],"folder":{"scheme":"file"}
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[{"composerId":"10000000-0000-4000-8000-000000000004","name":"Only listed here","createdAt":1785000040000,"isArchived":true} ]}'),
 ('workbench.panel.aichat.view.aichat.chatdata', '{"tabs":[{"tabId":"10000000-0000-4000-8000-000000000007","chatTitle":"A tab","bubbles":[{"type":"user","text":"hi"}]}]}');
-- file: workspaceStorage/ffffffffffffffffffffffffffffffff/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
-- file: globalStorage/state.vscdb
PRAGMA user_version=1;
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT, subagentTypeName TEXT);
CREATE INDEX idx_composerHeaders_0 ON composerHeaders (workspaceId, isSubagent, isArchived, recency);
INSERT INTO composerHeaders VALUES
 ('10000000-0000-4000-8000-000000000001','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1785000010000,1785000011000,0,0,1785000011000,NULL,'{"type":"head", "composerId":"10000000-0000-4000-8000-000000000001","name":"In the table","workspaceIdentifier" : {"uri":{"$mid":1,"fsPath":"/home/ann/app","external":"file:///home/ann/app","path":"/home/ann/app","scheme":"file"},"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"} ,"x":1.0}',NULL),
 ('10000000-0000-4000-8000-000000000002','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1785000010000,NULL,0,1,1785000010000,NULL,'{"composerId":"10000000-0000-4000-8000-000000000002","name":"Its subagent","subagentInfo":{"parentComposerId":"10000000-0000-4000-8000-000000000001"}}','explore'),
 ('10000000-0000-4000-8000-000000000005','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',1785000050000,NULL,0,0,1785000050000,NULL,'{"composerId":"10000000-0000-4000-8000-000000000005","name":"In a folder inside"}',NULL),
 ('10000000-0000-4000-8000-00000000000c','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',1785000050000,NULL,0,1,1785000050000,NULL,'{"composerId":"10000000-0000-4000-8000-00000000000c","name":"Its subagent","subagentInfo":{"parentComposerId":"10000000-0000-4000-8000-000000000005"}}','explore'),
 ('10000000-0000-4000-8000-000000000006','cccccccccccccccccccccccccccccccc',1785000060000,NULL,0,0,1785000060000,NULL,'{"composerId":"10000000-0000-4000-8000-000000000006","name":"Of another folder"}',NULL),
 ('10000000-0000-4000-8000-000000000008','dddddddddddddddddddddddddddddddd',1785000080000,NULL,0,0,1785000080000,NULL,'{"composerId":"10000000-0000-4000-8000-000000000008","name":"Of several folders"}',NULL),
 ('10000000-0000-4000-8000-000000000009','eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',1785000090000,NULL,0,0,1785000090000,NULL,'{"composerId":"10000000-0000-4000-8000-000000000009","name":"Remote"}',NULL),
 ('10000000-0000-4000-8000-00000000000a','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1785000090000,NULL,0,0,1785000090000,NULL,'{"composerId":"10000000-0000-4000-8000-00000000000a","name":"Torn record"}',NULL);
INSERT INTO ItemTable VALUES ('composer.composerHeaders', CAST('{"allComposers":[{"composerId":"10000000-0000-4000-8000-000000000006","workspaceIdentifier":{"id":"cccccccccccccccccccccccccccccccc"}},
 {"composerId":"10000000-0000-4000-8000-000000000003","name":"In the list","createdAt":1785000030000,"workspaceIdentifier":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","uri":{"$mid":1,"fsPath":"/home/ann/app","external":"file:///home/ann/app","path":"/home/ann/app","scheme":"file"}}}],"y":"/home/ann/app"}' AS BLOB)),
 ('glass.localAgentProjects.v1','[{"id":"p-old","name":"app","workspace":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},{"id":"p-new","name":"new","workspace":{"id":"ffffffffffffffffffffffffffffffff"}},{"id":"p-mine","name":"mine","workspace":null}]'),
 ('glass.localAgentProjectMembership.v1','{"10000000-0000-4000-8000-000000000001":"p-old","10000000-0000-4000-8000-000000000003":"p-mine","10000000-0000-4000-8000-000000000006":"p-old"}');
INSERT INTO cursorDiskKV VALUES
 ('composerData:10000000-0000-4000-8000-000000000001','{"_v":17,"composerId":"10000000-0000-4000-8000-000000000001","workspaceIdentifier":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}],"note":"workspaceIdentifier of /home/ann/app \ud800"}'),
 ('bubbleId:10000000-0000-4000-8000-000000000001:b1','{"_v":3,"type":1,"bubbleId":"b1","text":"look at /home/ann/app","workspaceUris":["file:///home/ann/app"]}'),
 ('composerData:10000000-0000-4000-8000-000000000002','{"_v":17,"composerId":"10000000-0000-4000-8000-000000000002","fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-000000000003','{"_v":17,"composerId":"10000000-0000-4000-8000-000000000003","fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-000000000004','{"_v":10,"composerId":"10000000-0000-4000-8000-000000000004","fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-000000000005','{"_v":17,"composerId":"10000000-0000-4000-8000-000000000005","fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-00000000000c','{"_v":17,"fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-000000000006','{"_v":17,"composerId":"10000000-0000-4000-8000-000000000006","fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-000000000008','{"_v":17,"composerId":"10000000-0000-4000-8000-000000000008","fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-000000000009','{"_v":17,"composerId":"10000000-0000-4000-8000-000000000009","fullConversationHeadersOnly":[]}'),
 ('composerData:10000000-0000-4000-8000-00000000000a','{"_v":17,"composerId":"10000000-0000-4000-8000-00000000000a","workspaceIdentifier":{"id":"aaaa'),
 ('composerData:10000000-0000-4000-8000-00000000000b',CAST('{"_v":17,"name":"Only a record","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}],"workspaceIdentifier":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","uri":{"scheme":"file","path":"/home/ann/app"}}}' AS BLOB)),
 ('bubbleId:10000000-0000-4000-8000-00000000000b:b1','{"_v":3,"type":1,"bubbleId":"b1","text":"hello"}');
