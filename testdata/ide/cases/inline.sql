-- Composers of 2024: the conversation stands in the head, and the tools' records
-- apart from it, as JSON in a string.
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json
{"folder":"file:///home/ana/shop"}
-- file: workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[
  {"composerId":"inline-1","name":"Add a test","createdAt":1730000000000,"lastUpdatedAt":1730000060000,"unifiedMode":"edit",
   "conversation":[{"type":1,"bubbleId":"b1","text":"add a test"},{"type":2,"bubbleId":"b2","text":"","capabilityType":15},{"type":2,"bubbleId":"b3","text":"Added."}],
   "capabilities":[{"type":15,"data":{"bubbleDataMap":"{\"b2\":{\"tool\":5,\"name\":\"read_file\",\"toolCallId\":\"t1\",\"params\":\"{\\\"relativeWorkspacePath\\\":\\\"a_test.go\\\"}\",\"result\":\"{\\\"contents\\\":\\\"package a\\\"}\",\"status\":\"completed\"}}"}}]}],
  "selectedComposerId":"inline-1","composerDataVersion":2}');
