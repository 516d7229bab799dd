-- workspaceStorage/<id>/state.vscdb of the same IDE.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
  ('composer.composerData', '{"selectedComposerIds":["aaaaaaaa-0000-4000-8000-000000000001"],"hasMigratedComposerData":true}'),
  ('aiService.prompts', '[{"text":"say hello in a.txt","commandType":4}]');
