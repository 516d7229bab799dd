-- store.db of the Cursor CLI, and of each agent of the SDK. Chats of 2025 may have user_version 0.
PRAGMA user_version = 0;
PRAGMA user_version = 1;
CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
