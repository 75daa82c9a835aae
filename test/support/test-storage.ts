import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import type { Storage } from '../../src/storage/storage.interface.js';

/** A started store, which the test must stop. Two stores on one database act like two server processes. */
export interface TestStorage extends Storage {
  stop(): Promise<void>;
}

/** Opens a store on the database of a test. */
export function openTestStorage(databaseUrl: string): Promise<TestStorage> {
  return createPostgresStorage({ databaseUrl });
}
