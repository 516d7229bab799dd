-- Bubbles that no list names: turns that the user went back on. Their times say
-- where: another answer to the first prompt, a second prompt with its tool that
-- was written anew, twice; two without a time; one deleted.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"composerId":"c1","name":"Went back twice","fullConversationHeadersOnly":[{"bubbleId":"p1","type":1,"createdAt":"2026-05-01T10:00:00.000Z"},{"bubbleId":"a1","type":2},{"bubbleId":"t1","type":2},{"bubbleId":"p2","type":1},{"bubbleId":"a2","type":2}]}'),
 ('bubbleId:c1:p1', '{"type":1,"bubbleId":"p1","text":"first prompt"}'),
 ('bubbleId:c1:a1', '{"type":2,"bubbleId":"a1","createdAt":"2026-05-01T10:02:00.000Z","text":"the answer that was kept"}'),
 ('bubbleId:c1:t1', '{"type":2,"bubbleId":"t1","createdAt":"2026-05-01T10:02:01.000Z","capabilityType":15,"toolFormerData":{"tool":40,"name":"read_file_v2","toolCallId":"call_1","rawArgs":"{}","status":"completed","result":"{\"contents\":\"x\"}"}}'),
 ('bubbleId:c1:p2', '{"type":1,"bubbleId":"p2","createdAt":"2026-05-01T10:30:00.000Z","text":"second prompt, third try"}'),
 ('bubbleId:c1:a2', '{"type":2,"bubbleId":"a2","text":"second answer"}'),
 ('bubbleId:c1:zz', '{"type":2,"bubbleId":"zz","createdAt":"2026-05-01T10:01:00.000Z","text":"an answer that was asked anew","requestId":"r0"}'),
 ('bubbleId:c1:yy', '{"type":1,"bubbleId":"yy","createdAt":"2026-05-01T10:10:00.000Z","text":"second prompt, first try"}'),
 ('bubbleId:c1:xx', '{"type":2,"bubbleId":"xx","createdAt":"2026-05-01T10:11:00.000Z","capabilityType":15,"toolFormerData":{"tool":40,"name":"read_file_v2","toolCallId":"call_2","rawArgs":"{}","status":"completed","result":"{\"contents\":\"y\"}"}}'),
 ('bubbleId:c1:ww', '{"type":1,"bubbleId":"ww","timingInfo":{"clientStartTime":1777630800000},"text":"second prompt, second try"}'),
 ('bubbleId:c1:vv', '{"type":2,"bubbleId":"vv","createdAt":"2026-05-01T10:31:00.000Z","text":"an answer behind the last"}'),
 ('bubbleId:c1:mm', '{"type":1,"bubbleId":"mm","text":"without a time, by its key the first"}'),
 ('bubbleId:c1:nn', '{"type":2,"bubbleId":"nn","text":"without a time, by its key the second"}'),
 ('bubbleId:c1:dead', NULL),
 ('bubbleId:c1:torn', '{"type":2,"text":'),
 ('messageRequestContext:c1:yy', '{"gitStatusRaw":"clean"}');
