-- Tools: the number counts before the name; arguments and results are JSON in
-- strings, mostly.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"_v":17,"composerId":"c1","createdAt":1785000000000,"status":"aborted","fullConversationHeadersOnly":[{"bubbleId":"u","type":1},{"bubbleId":"p1","type":2},{"bubbleId":"p2","type":2},{"bubbleId":"p3","type":2},{"bubbleId":"say","type":2},{"bubbleId":"t1","type":2},{"bubbleId":"t2","type":2},{"bubbleId":"t3","type":2},{"bubbleId":"t4","type":2},{"bubbleId":"t5","type":2},{"bubbleId":"t6","type":2},{"bubbleId":"t7","type":2},{"bubbleId":"t8","type":2},{"bubbleId":"old","type":2}]}'),
 ('bubbleId:c1:u', '{"type":1,"bubbleId":"u","text":"do things"}'),
 ('bubbleId:c1:p1', '{"type":2,"bubbleId":"p1","text":"In parallel:","toolFormerData":{"tool":40,"toolIndex":0,"modelCallId":"m1","toolCallId":"call_a\nfc_a","status":"completed","name":"an_alias","rawArgs":"{\"target_file\":\"a.go\"}","params":"{\"targetFile\":\"/home/ana/shop/a.go\",\"effectiveUri\":\"\"}","result":"{\"contents\":\"package a\",\"totalLinesInFile\":1}"}}'),
 ('bubbleId:c1:p2', '{"type":2,"bubbleId":"p2","text":"","toolFormerData":{"tool":15,"toolIndex":1,"modelCallId":"m1","toolCallId":"call_b","status":"completed","name":"run_terminal_cmd","userDecision":"accepted","rawArgs":"{\"command\":\"false\"}","params":"{\"command\":\"false\"}","result":"{\"output\":\"\",\"exitCode\":0,\"exitCodeV2\":1}","additionalData":{"status":"success","startedAtMs":1785000001000}}}'),
 ('bubbleId:c1:p3', '{"type":2,"bubbleId":"p3","text":"","toolFormerData":{"tool":41,"modelCallId":"m2","toolCallId":"call_c","status":"completed","name":"grep","params":"{\"pattern\":\"x\"}","result":"{\"success\":{}}"}}'),
 ('bubbleId:c1:say', '{"type":2,"bubbleId":"say","text":"And then:"}'),
 ('bubbleId:c1:t1', '{"type":2,"bubbleId":"t1","toolFormerData":{"additionalData":{"status":"error"}}}'),
 ('bubbleId:c1:t2', '{"type":2,"bubbleId":"t2","toolFormerData":{"tool":38,"toolCallId":"call_d","name":"edit_file_v2","status":"completed","params":"{\"relativeWorkspacePath\":\"/home/ana/shop/a.go\"}","rawArgs":"{\"target_file\":\"/home/ana/sh","result":"{\"beforeContentId\":\"composer.content.e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"afterContentId\":\"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"}"}}'),
 ('bubbleId:c1:t3', '{"type":2,"bubbleId":"t3","toolFormerData":{"tool":38,"toolCallId":"call_e","name":"edit_file_v2","status":"completed","params":{"relativeWorkspacePath":"b.go"},"result":{"beforeContentId":"0000000000000000000000000000000000000000000000000000000000000000"}}}'),
 ('bubbleId:c1:t4', '{"type":2,"bubbleId":"t4","toolFormerData":{"tool":15,"toolCallId":"call_f","name":"run_terminal_cmd","status":"cancelled","userDecision":"rejected","params":"{\"command\":\"rm -r /\"}"}}'),
 ('bubbleId:c1:t5', '{"type":2,"bubbleId":"t5","toolFormerData":{"tool":5,"toolCallId":"call_g","name":"read_file","status":"error","params":"{}","error":"{\"clientVisibleErrorMessage\":\"no\",\"modelVisibleErrorMessage\":\"There is no such file.\"}"}}'),
 ('bubbleId:c1:t6', '{"type":2,"bubbleId":"t6","toolFormerData":{"tool":99,"toolCallId":"call_h","name":"brand_new","status":"completed","result":"plain words","future":1}}'),
 ('bubbleId:c1:t7', '{"type":2,"bubbleId":"t7","toolFormerData":{"tool":0,"toolCallId":"call_g","name":"mcp_github_search","status":"loading","params":"{\"q\":1}"}}'),
 ('bubbleId:c1:t8', '{"type":2,"bubbleId":"t8","toolFormerData":{"name":"web_search","toolCallId":"call_i","status":"completed","result":"{\"references\":[],\"rejected\":true}"}}'),
 ('bubbleId:c1:old', '{"type":2,"bubbleId":"old","text":"","toolResults":[{"toolCallId":"o1","toolName":"list_dir","args":"{\"path\":\".\"}","content":"a.go","result":{"tool":6}},{"toolCallId":"o2","toolName":"read_file","error":{"modelVisibleErrorMessage":"gone"}}]}'),
 ('composer.content.2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', 'hello');
