-- The agents' sidebar (since 3.12), whose list of members names sessions that no
-- other list does; and whose folder a session is of, where lists disagree, or
-- only its bubbles say so.
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1/workspace.json
{"folder":"file:///home/ana/by-head"}
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[{"composerId":"c1"},{"composerId":"c2"}],"selectedComposerIds":[]}');
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2/workspace.json
{"folder":"file:///home/ana/by-record"}
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT);
INSERT INTO composerHeaders (composerId, workspaceId) VALUES ('c3','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1');
INSERT INTO ItemTable VALUES
 ('glass.localAgentProjectMembership.v1', '{"version":1,"memberships":{"eeeeeeee-0000-4000-8000-00000000000e":"project-1","aaaaaaaa-0000-4000-8000-00000000000a":{"projectId":"project-1"}}}'),
 ('glass.localAgentProjects.v1', '[{"id":"project-1","workspace":"file:///home/ana/by-head"}]');
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"composerId":"c1","name":"Its record wins over the head","workspaceIdentifier":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2"},"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
 ('bubbleId:c1:b1', '{"type":1,"bubbleId":"b1","text":"whose am I?","workspaceUris":["file:///home/ana/by-bubble"]}'),
 ('composerData:c2', '{"composerId":"c2","name":"Its head is all there is","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
 ('bubbleId:c2:b1', '{"type":1,"bubbleId":"b1","text":"and I?"}'),
 ('composerData:c3', '{"composerId":"c3","name":"The table wins over all","workspaceIdentifier":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2"},"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
 ('bubbleId:c3:b1', '{"type":1,"bubbleId":"b1","text":"and I?"}'),
 ('composerData:c4', '{"composerId":"c4","name":"Only its bubbles say","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2}]}'),
 ('bubbleId:c4:b1', '{"type":1,"bubbleId":"b1","text":"and I?","workspaceUris":[]}'),
 ('bubbleId:c4:b2', '{"type":2,"bubbleId":"b2","text":"you too","workspaceUris":["vscode-remote://ssh-remote%2Bbuild/home/ana/by%20bubble"]}'),
 ('composerData:c5', '{"composerId":"c5","name":"A folder, said last of all","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
 ('bubbleId:c5:b1', '{"type":1,"bubbleId":"b1","text":"and I?","workspaceProjectDir":"/home/ana/by-project"}'),
 ('bubbleId:eeeeeeee-0000-4000-8000-00000000000e:b1', '{"type":1,"bubbleId":"b1","text":"only the sidebar knows me"}');
