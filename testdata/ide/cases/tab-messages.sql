-- Chat tabs that hold messages in the place of bubbles, and an id and a title
-- that are called just so.
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json
{"folder":"file:///home/ana/shop"}
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('workbench.panel.chat.view.chat.chatdata', '{"tabs":[
  {"id":"11111111-0000-4000-8000-000000000001","title":"Sum a column","createdAt":1707000000000,"lastUpdatedAt":1707000060000,"messages":[
    {"id":"m1","role":"user","content":"how do I sum a column?","timestamp":1707000001000},
    {"role":"assistant","content":"Use awk.","timestamp":1707000002000},
    {"id":"","type":"ai","content":"Or a spreadsheet.","timestamp":1707000003000},
    {"id":"m4","role":"narrator","content":"an unknown role","extra":[1]}]},
  {"tabId":"tab-2","id":5,"chatTitle":"Both","title":"Another title","bubbles":[{"type":"user","id":"u1","text":"in bubbles"}],"messages":[{"role":"user","content":"in messages"}]},
  {"title":"Nothing in it","messages":[]}]}');
