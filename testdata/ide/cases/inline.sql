-- Composers of 2024: the conversation stands in the head, and the tools' records
-- apart from it, as JSON in a string. Of 2025: it stands in the session's own row.
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json
{"folder":"file:///home/ana/shop"}
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[
  {"composerId":"inline-1","name":"Add a test","createdAt":1730000000000,"lastUpdatedAt":1730000060000,"unifiedMode":"edit",
   "conversation":[{"type":1,"bubbleId":"b1","text":"add a test"},{"type":2,"bubbleId":"b2","text":"","capabilityType":15},{"type":2,"bubbleId":"b3","text":"Added."}],
   "capabilities":[{"type":15,"data":{"bubbleDataMap":"{\"b2\":{\"tool\":5,\"name\":\"read_file\",\"toolCallId\":\"t1\",\"params\":\"{\\\"relativeWorkspacePath\\\":\\\"a_test.go\\\"}\",\"result\":\"{\\\"contents\\\":\\\"package a\\\"}\",\"status\":\"completed\"}}"}}]},
  {"composerId":"inline-2","name":"Look, then ask","createdAt":1730000100000,"conversation":[
    {"type":1,"bubbleId":"c1","text":"why is it slow?"},{"type":2,"bubbleId":"c2","thinking":{"text":"A loop, I think."},"text":"I look at the loop."},
    {"type":2,"bubbleId":"c3","text":"","capabilityType":15},{"type":2,"bubbleId":"c4","text":"","capabilityType":15},{"type":2,"bubbleId":"c5","text":"It opens the file each time."},
    {"type":1,"bubbleId":"c6","richText":"{\"root\":{\"children\":[{\"text\":\"open it once\"}]}}"},{"type":2,"bubbleId":"c7","text":"Done."}],
   "capabilities":[{"type":15,"data":{"bubbleDataMap":"{\"c4\":{\"name\":\"grep_search\",\"toolCallId\":\"t3\",\"params\":\"{\\\"query\\\":\\\"Open\\\"}\",\"result\":\"{\\\"matches\\\":2}\",\"status\":\"completed\"},\"c3\":{\"name\":\"read_file\",\"toolCallId\":\"t2\",\"params\":\"{}\",\"result\":\"{\\\"contents\\\":\\\"for\\\"}\",\"status\":\"completed\"}}"}}]}],
  "selectedComposerId":"inline-1","composerDataVersion":2}');
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:inline-3', '{"composerId":"inline-3","name":"In one row","createdAt":1740000000000,"conversation":[{"type":1,"bubbleId":"d1","text":"first question"},{"type":2,"bubbleId":"d2","text":"first answer"},{"type":1,"bubbleId":"d3","text":"second question"},{"type":2,"bubbleId":"d4","toolFormerData":{"tool":5,"name":"read_file","toolCallId":"t4","rawArgs":"{}","result":"{\"contents\":\"x\"}","status":"completed"}},{"type":2,"bubbleId":"d5","text":"second answer"}]}');
