-- Chat tabs, the first generation: list and bodies in one record of the
-- workspace. What the user typed is in delegate.a, in text, or only in the
-- editor's JSON; a tab can lack its id.
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json
{"folder":"file:///home/ana/old%20shop"}
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', '{"tabs":[
  {"tabId":"tab-1","chatTitle":"Sum a column","lastSendTime":1707000000000,"bubbles":[
    {"type":"user","id":"u1","delegate":{"a":"how do I sum a column?"},"text":"ignored","initText":"{\"root\":{}}","selections":[{"text":"a,b\n1,2"}]},
    {"type":"ai","id":"a1","modelType":"gpt-4","rawText":"Use **awk**.","codeBlocks":[]},
    {"type":"user","id":"u2","initText":"{\"root\":{\"children\":[{\"type\":\"paragraph\",\"children\":[{\"type\":\"text\",\"text\":\"and in Go?\"}]}]}}","image":{"path":"/tmp/shot.png"}},
    {"type":"ai","id":"a2","text":"With encoding/csv.","timestamp":1707000005000}]},
  {"chatTitle":"No id","bubbles":[{"type":"user","text":"hello"}]},
  {"tabId":"tab-3","chatTitle":"Never used","bubbles":[]}],"selectedTabId":"tab-1"}');
