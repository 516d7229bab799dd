-- The client's own lists of what was typed, prompts without a time and requests
-- with one, which name no session. In the first workspace one session has its
-- messages and one has lost them: its prompts are known by their times. In the
-- second there is no session at all; in the third every prompt is in one. Where
-- no folder is known, one prompt is in no session.
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/workspace.json
{"folder":"file:///home/ana/shop"}
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
  ('composer.composerData', '{"allComposers":[
    {"type":"head","composerId":"talked","name":"Has its messages","createdAt":1750000000000,"lastUpdatedAt":1750000600000},
    {"type":"head","composerId":"lost","name":"Has lost them","createdAt":1750001200000,"lastUpdatedAt":1750002400000},
    {"type":"head","composerId":"empty-state-draft","createdAt":1750001300000}]}'),
  ('aiService.prompts', '[{"text":"rename the parser","commandType":4},{"text":"is it fast?","commandType":4},
    {"text":"undo that ","commandType":4},{"text":"explain this line","commandType":1,"newMember":true}]'),
  ('aiService.generations', '[
    {"unixMs":1750000060000,"generationUUID":"g-1","type":"composer","textDescription":"rename the parser"},
    {"unixMs":1750000300000,"generationUUID":"r-2","type":"composer","textDescription":"a label of the client''s own"},
    {"unixMs":1750001500000,"generationUUID":"g-3","type":"composer","textDescription":"is it fast?"},
    {"unixMs":1750001560000,"generationUUID":"g-4","type":"cmdk","textDescription":"explain this line"},
    {"unixMs":1750001800000,"generationUUID":"g-5","type":"composer","textDescription":"and is it right?"},
    {"unixMs":1750005000000,"generationUUID":"g-6","type":"composer","textDescription":"asked in a session that is gone"},
    {"unixMs":1750005060000,"type":"composer"}]');
-- file: workspaceStorage/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/workspace.json
{"folder":"file:///home/ana/blog"}
-- file: workspaceStorage/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('aiService.prompts', CAST('[{"text":"write a post"},{"text":"write a post"},"as text alone",{"commandType":4},7]' AS BLOB));
-- file: workspaceStorage/cccccccccccccccccccccccccccccccc/workspace.json
{"folder":"file:///home/ana/site"}
-- file: workspaceStorage/cccccccccccccccccccccccccccccccc/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
  ('composer.composerData', '{"allComposers":[{"type":"head","composerId":"whole","createdAt":1750010000000,"lastUpdatedAt":1750010600000}]}'),
  ('aiService.prompts', '[{"text":"write a post","commandType":4}]');
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
  ('aiService.prompts', '[{"text":"typed in a window without a folder","commandType":4},{"text":"rename the parser","commandType":4}]'),
  ('aiService.generations', '{"not":"a list"}');
INSERT INTO cursorDiskKV VALUES
  ('composerData:talked', '{"_v":3,"composerId":"talked","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":1},{"bubbleId":"b4","type":2}]}'),
  ('bubbleId:talked:b1', '{"_v":2,"type":1,"bubbleId":"b1","text":"rename the parser"}'),
  ('bubbleId:talked:b2', '{"_v":2,"type":2,"bubbleId":"b2","text":"Renamed."}'),
  ('bubbleId:talked:b3', '{"_v":2,"type":1,"bubbleId":"b3","text":"now the tests","requestId":"r-2"}'),
  ('bubbleId:talked:b4', '{"_v":2,"type":2,"bubbleId":"b4","text":"Done."}'),
  ('composerData:loose', '{"_v":3,"composerId":"loose","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
  ('bubbleId:loose:b1', '{"_v":2,"type":1,"bubbleId":"b1","text":"of no folder"}'),
  ('composerData:whole', '{"_v":3,"composerId":"whole","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
  ('bubbleId:whole:b1', '{"_v":2,"type":1,"bubbleId":"b1","richText":"{\"root\":{\"children\":[{\"type\":\"paragraph\",\"children\":[{\"type\":\"text\",\"text\":\"write a post\"}]}]}}"}');
