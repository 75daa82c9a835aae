import { after, before, describe } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { createPostgresStorage } from '../postgres/postgres-storage.js';
import { storageContract } from '../testing/storage-contract.js';
import { CachedStorage } from './cache-delegator.js';

describe('CachedStorage', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  describe('contract', () => {
    storageContract(async () => {
      const inner = await createPostgresStorage({ databaseUrl: await server.createTestDatabase() });
      const storage = new CachedStorage(inner, { partFillWaitMs: 10_000, fillWaitMs: 10_000, quietMs: 20 });
      return {
        storage,
        stop: async () => {
          await storage.stop();
          await inner.stop();
        },
      };
    });
  });
});
