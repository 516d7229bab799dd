-- globalStorage/state.vscdb of a small Cursor IDE: two composers, shared blobs,
-- a tombstone, a NULL key, both storage classes, and things that are secret.
PRAGMA user_version = 1;
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT);
CREATE INDEX idx_composerHeaders_0 ON composerHeaders (workspaceId, isSubagent, isArchived, recency);
INSERT INTO ItemTable VALUES
  ('cursorAuth/accessToken', 'planted-token-0001'),
  ('secret://{"extensionId":"x","key":"y"}', 'planted-token-0002'),
  ('workbench.colorTheme', 'Dark'),
  ('composer.planRegistry', '{"plans":[]}');
INSERT INTO composerHeaders VALUES ('aaaaaaaa-0000-4000-8000-000000000001', '0123456789abcdef0123456789abcdef', 1767323045000, 1767323145000, 0, 0, 1767323145000, NULL, '{"type":"head","composerId":"aaaaaaaa-0000-4000-8000-000000000001","name":"Greet politely"}');
INSERT INTO cursorDiskKV VALUES
  ('composerData:aaaaaaaa-0000-4000-8000-000000000001', '{"_v":17,"composerId":"aaaaaaaa-0000-4000-8000-000000000001","name":"Greet politely","blobEncryptionKey":"planted-token-0003","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2}],"conversationMap":{},"createdAt":1767323045000}'),
  ('bubbleId:aaaaaaaa-0000-4000-8000-000000000001:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"say hello in a.txt"}'),
  ('bubbleId:aaaaaaaa-0000-4000-8000-000000000001:b2', CAST('{"_v":3,"type":2,"bubbleId":"b2","text":"Done — a.txt greets you.","tokenCount":{"inputTokens":9007199254740993,"outputTokens":1.0}}' AS BLOB)),
  ('checkpointId:aaaaaaaa-0000-4000-8000-000000000001:c1', '{"files":[],"nonExistentFiles":[]}'),
  ('agentKv:blob:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', '68656c6c6f'),
  ('agentKv:blob:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', x'00'),
  ('agentKv:checkpoint:aaaaaaaa-0000-4000-8000-000000000001', '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'),
  ('composer.content.2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', 'hello'),
  ('composerData:bbbbbbbb-0000-4000-8000-000000000002', NULL),
  (NULL, 'a row without a key'),
  ('inlineDiffs-0123456789abcdef0123456789abcdef', '[]');
