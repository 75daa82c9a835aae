import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startTestPostgres } from '../../test/support/test-postgres.js';
import { createPostgresStorage } from './postgres/postgres-storage.js';
import { isNotReadyYet } from './until-ready.js';

it('the start does not wait for a server without the TLS that the URL asks for', async () => {
  const postgres = await startTestPostgres();
  try {
    const databaseUrl = `${await postgres.createTestDatabase()}?sslmode=require`;
    const error = await createPostgresStorage({ databaseUrl, writeWaitMs: 100 }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.match(String(error), /does not support SSL/);
    assert.equal(isNotReadyYet(error), false);
  } finally {
    await postgres.stop();
  }
});
