import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import type { Storage } from '../../src/storage/storage.interface.js';

/** A started store of a test, to be stopped by it. Two of them on one database are two server processes. */
export interface TestStorage extends Storage {
  stop(): Promise<void>;
}

/** Opens a database of a test. */
export function openTestStorage(databaseUrl: string): Promise<TestStorage> {
  return createPostgresStorage({ databaseUrl });
}
