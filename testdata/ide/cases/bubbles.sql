-- What a bubble can hold.
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1/workspace.json
{"folder":"file:///home/ana/shop"}
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1/images/shot.png
not really a picture
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"_v":18,"composerId":"c1","createdAt":1785000000000,"status":"error","richText":"{\"root\":{}}","text":"half a thought","fullConversationHeadersOnly":[{"bubbleId":"u1","type":1,"createdAt":1785000000500},{"bubbleId":"t1","type":2},{"bubbleId":"t2","type":2},{"bubbleId":"t3","type":2},{"bubbleId":"x1","type":2},{"bubbleId":"u2","type":1},{"bubbleId":"x2","type":2},{"bubbleId":"u3","type":1},{"bubbleId":"s1","type":2},{"bubbleId":"u4","type":1},{"bubbleId":"e1","type":2},{"bubbleId":"odd","type":2}]}'),
 ('bubbleId:c1:u1', '{"_v":3,"type":1,"bubbleId":"u1","text":"look at this","richText":"{\"root\":{\"children\":[]}}","modelInfo":{"modelName":"composer-2"},"unifiedMode":2,"requestId":"r1","attachedCodeChunks":[{"relativeWorkspacePath":"a.go","lines":["package a"]}],"gitStatusRaw":" M a.go","context":{"fileSelections":[{"uri":{"path":"/home/ana/shop/a.go"}}],"folderSelections":[],"mentions":{},"newThing":[1],"selectedImages":[{"uuid":"i9","path":"/home/ana/.config/Cursor/User/workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1/images/shot.png"}]},"images":[{"uuid":"i1","data":"iVBORw0KGgo=","dimension":{"width":1,"height":1}},{"data":{"0":255,"1":216,"2":255}},{"data":[71,73,70,56]},{"data":{"type":"Buffer","data":[137,80,78,71]}},{"path":"/elsewhere/x.png"}],"lints":[],"todos":["{\"id\":\"1\"}"],"strangerMember":{"deep":[1,2]}}'),
 ('bubbleId:c1:t1', '{"_v":3,"type":2,"bubbleId":"t1","text":"","capabilityType":30,"thinking":{"text":"hm","signature":"sig","newPart":1},"thinkingDurationMs":1200,"thinkingStyle":1}'),
 ('bubbleId:c1:t2', '{"_v":3,"type":2,"bubbleId":"t2","text":"","thinking":"a string of 2025"}'),
 ('bubbleId:c1:t3', '{"_v":3,"type":2,"bubbleId":"t3","text":"","allThinkingBlocks":[{"text":"one"},{"text":"","redactedThinking":"zzzz"}]}'),
 ('bubbleId:c1:x1', '{"_v":3,"type":2,"bubbleId":"x1","text":"Done.\n\n```go\npackage a\n```","codeBlocks":[{"languageId":"go","content":"package a","codeBlockIdx":0}],"tokenCount":{"inputTokens":1200,"outputTokens":34},"timingInfo":{"clientStartTime":4745281.3,"clientRpcSendTime":1785000001000,"clientSettleTime":1785000009000,"clientEndTime":1785000009000},"supportedTools":[1,2]}'),
 ('bubbleId:c1:u2', '{"_v":3,"type":1,"bubbleId":"u2","text":"","richText":"{\"type\":\"doc\",\"content\":[{\"type\":\"paragraph\",\"content\":[{\"type\":\"text\",\"text\":\"typed in the new editor\"}]}]}","createdAt":"2026-07-25T18:00:10.000Z"}'),
 ('bubbleId:c1:x2', '{"_v":3,"type":2,"bubbleId":"x2","text":"Yes."}'),
 ('bubbleId:c1:u3', '{"_v":3,"type":1,"bubbleId":"u3","text":"Implement the plan","isSimulatedMsg":true,"simulatedMsgReason":1}'),
 ('bubbleId:c1:s1', '{"_v":3,"type":2,"bubbleId":"s1","text":"","capabilityType":22,"cachedConversationSummary":{"summary":"They looked at a.go.","truncationLastBubbleIdInclusive":"x2"}}'),
 ('bubbleId:c1:u4', '{"_v":3,"type":1,"bubbleId":"u4","text":"go on","conversationState":"~"}'),
 ('bubbleId:c1:e1', '{"_v":3,"type":2,"bubbleId":"e1","text":"","errorDetails":{"message":"the model is gone","code":7}}'),
 ('bubbleId:c1:odd', '{"_v":3,"type":9,"bubbleId":"odd","text":["not","text"],"createdAt":12,"thinking":[1],"images":{},"context":"odd","toolFormerData":"odd","codeBlocks":"odd"}'),
 ('messageRequestContext:c1:u2', '{"cursorRules":["be brief"],"terminalFiles":[]}'),
 ('messageRequestContext:c1:nobody', '{"gitStatusRaw":"clean"}'),
 ('agentKv:bubbleCheckpoint:c1:u1', '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
