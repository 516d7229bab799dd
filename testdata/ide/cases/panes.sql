-- Panes that were open, and agents of which this machine knows the name only.
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json
{"folder":"file:///home/ana/shop"}
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
 ('workbench.panel.composerChatViewPane.11111111-2222-4333-8444-555555555555', '{"workbench.panel.aichat.view.aaaaaaaa-0000-4000-8000-00000000000a":{"collapsed":false},"workbench.panel.aichat.view.bbbbbbbb-0000-4000-8000-00000000000b":{}}'),
 ('workbench.panel.composerChatViewPane.11111111-2222-4333-8444-555555555555.hidden', '[{"id":"workbench.panel.aichat.view.cccccccc-0000-4000-8000-00000000000c"}]'),
 ('workbench.backgroundComposer.workspacePersistentData', '{"setupStep":1,"agents":[{"bcId":"bc-dddddddd-0000-4000-8000-00000000000d"}]}');
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:aaaaaaaa-0000-4000-8000-00000000000a', '{"_v":16,"composerId":"aaaaaaaa-0000-4000-8000-00000000000a","name":"Known by its pane","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
 ('bubbleId:aaaaaaaa-0000-4000-8000-00000000000a:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"hello"}');
