-- Files as they were: before the session, at a checkpoint, around an edit.
-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
 ('composerData:c1', '{"_v":17,"composerId":"c1","fullConversationHeadersOnly":[],"originalFileStates":{"file:///home/ana/a.go":{"content":"one\ntwo\nthree","isNewlyCreated":false,"firstEditBubbleId":"b1"},"file:///home/ana/new.go":{"isNewlyCreated":true}},"codeBlockData":{"file:///home/ana/a.go":{"k1":{"diffId":"d1","bubbleId":"b1"}}},"newlyCreatedFiles":[{"uri":{"path":"/home/ana/new.go"}}]}'),
 ('ofsContent:c1:file:///home/ana/b.go', 'kept in a row of its own'),
 ('checkpointId:c1:k1', '{"files":[{"uri":{"$mid":1,"scheme":"file","authority":"","path":"/home/ana/a.go","fsPath":"/home/ana/a.go"},"originalModelDiffWrtV0":[{"original":{"startLineNumber":2,"endLineNumberExclusive":3},"modified":["zwei","zwei und halb"]}],"isNewlyCreated":false},{"uri":{"scheme":"file","path":"/home/ana/c.go"},"originalModelDiffWrtV0":[{"original":{"startLineNumber":1,"endLineNumberExclusive":1},"modified":["x"]}]}],"nonExistentFiles":[],"newlyCreatedFolders":[{"uri":{"path":"/home/ana/d"}}],"inlineDiffNewlyCreatedResources":{"files":[],"folders":[]}}'),
 ('checkpointId:c1:k2', '{"files":[],"nonExistentFiles":[]}'),
 ('codeBlockDiff:c1:d1', '{"newModelDiffWrtV0":[{"original":{"startLineNumber":1,"endLineNumberExclusive":2},"modified":["uno"]}],"originalModelDiffWrtV0":[]}'),
 ('codeBlockDiff:c1:d2', '{"newModelDiffWrtV0":[{"original":{"startLineNumber":7,"endLineNumberExclusive":9},"modified":[]}],"originalModelDiffWrtV0":[]}'),
 ('codeBlockPartialInlineDiffFates:c1:d1', '{"fates":[{"fate":"accepted"}]}'),
 ('codeBlockPartialInlineDiffFates:c1:d9', '{"fates":[]}');
