-- Workspaces elsewhere, of several folders, and without one.
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1/workspace.json
{"folder":"vscode-remote://ssh-remote%2Bbuild.example/srv/my%20shop"}
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2/workspace.json
{"folder":"vscode-remote://wsl%2BUbuntu/home/ana/shop"}
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa3/workspace.json
{"workspace":"file:///home/ana/both.code-workspace"}
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa4/workspace.json
{"configuration":{"$mid":1,"path":"/home/ana/old.code-workspace","scheme":"file"}}
-- file: workspaceStorage/1750000000000/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[{"composerId":"c5","name":"A window without a folder"}]}');
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT, subagentTypeName TEXT);
INSERT INTO composerHeaders (composerId, workspaceId) VALUES ('c1','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1'),('c2','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2'),('c3','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa3'),('c4','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa4'),('c6','empty-window');
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"composerId":"c1","fullConversationHeadersOnly":[]}'),('composerData:c2', '{"composerId":"c2","fullConversationHeadersOnly":[]}'),
 ('composerData:c3', '{"composerId":"c3","fullConversationHeadersOnly":[]}'),('composerData:c4', '{"composerId":"c4","fullConversationHeadersOnly":[]}'),
 ('composerData:c5', '{"composerId":"c5","fullConversationHeadersOnly":[]}'),('composerData:c6', '{"composerId":"c6","fullConversationHeadersOnly":[]}'),
 ('composerData:c7', '{"composerId":"c7","fullConversationHeadersOnly":[],"gitWorktree":{"worktreePath":"/home/ana/.cursor/worktrees/shop/x","branchName":"try"}}');
