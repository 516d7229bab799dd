-- One more turn of the first composer, as the client writes it: new bubbles, a
-- new blob, and the composer's own row replaced, which gives it a new row id.
INSERT INTO cursorDiskKV VALUES
  ('bubbleId:aaaaaaaa-0000-4000-8000-000000000001:b3', '{"_v":3,"type":1,"bubbleId":"b3","text":"now say goodbye"}'),
  ('bubbleId:aaaaaaaa-0000-4000-8000-000000000001:b4', '{"_v":3,"type":2,"bubbleId":"b4","text":"a.txt says goodbye."}'),
  ('agentKv:blob:82e35a63ceba37e9646434c5dd412ea577147f1e4a41ccde1614253187e3dbf9', x'676f6f64627965'),
  ('composerData:aaaaaaaa-0000-4000-8000-000000000001', '{"_v":17,"composerId":"aaaaaaaa-0000-4000-8000-000000000001","name":"Greet politely","blobEncryptionKey":"planted-token-0003","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":1},{"bubbleId":"b4","type":2}],"conversationMap":{},"createdAt":1767323045000}'),
  ('agentKv:checkpoint:aaaaaaaa-0000-4000-8000-000000000001', '82e35a63ceba37e9646434c5dd412ea577147f1e4a41ccde1614253187e3dbf9');
UPDATE composerHeaders SET lastUpdatedAt = 1767323245000, recency = 1767323245000;
