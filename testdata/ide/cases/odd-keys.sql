-- Rows of bubbles whose keys have other ids than the bubbles inside: the list of
-- the session names what stands inside, or nothing at all. A row that is called
-- as the list says wins; one whose bubble says no id is nobody's.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
  ('composerData:c1', '{"_v":3,"composerId":"c1","name":"Odd keys","fullConversationHeadersOnly":[
    {"bubbleId":"by-key","type":1},{"bubbleId":"by-inner","type":2},{"bubbleId":"by-inner-again","type":1},{"bubbleId":"","type":2},
    {"bubbleId":"","type":1},{"bubbleId":"nowhere","type":2},{"bubbleId":"","type":2}]}'),
  ('bubbleId:c1:by-key', '{"_v":3,"type":1,"bubbleId":"another","text":"found by its key"}'),
  ('bubbleId:c1:row-1', '{"_v":3,"type":2,"bubbleId":"by-inner","text":"found by the id inside","requestId":"r"}'),
  ('bubbleId:c1:row-2', '{"_v":3,"type":1,"bubbleId":"by-inner-again","text":"and so is this"}'),
  ('bubbleId:c1:row-3', '{"_v":3,"type":1,"bubbleId":"by-key","text":"a copy that is not listed"}'),
  ('bubbleId:c1:row-4', '{"_v":3,"type":2,"text":"says no id"}'),
  ('bubbleId:c1:row-5', '{"_v":3,"type":1,"bubbleId":"","createdAt":"2026-05-01T10:00:09.000Z","text":"second of those without an id"}'),
  ('bubbleId:c1:row-6', '{"_v":3,"type":2,"bubbleId":"","createdAt":"2026-05-01T10:00:08.000Z","text":"first of those without an id"}'),
  ('messageRequestContext:c1:by-inner-again', '{"todos":[1]}'),
  ('composerData:c2', '{"composerId":"c2","name":"Inline","conversation":[{"bubbleId":"x","type":1,"text":"one"},{"bubbleId":"x","type":2,"text":"another of that id"},
    {"bubbleId":"x","type":1,"text":"one"},{"type":2,"text":"no id"}],"messages":[{"text":"of no known use"}]}'),
  ('composerData:c3', '{"composerId":"c3","name":"Its list is gone"}'),
  ('bubbleId:c3:', '{"_v":3,"type":1,"bubbleId":"","text":"a row without a name"}');
