import { rmSync } from 'node:fs';
import { withClient } from '../../src/base/database/with-client.js';
import { removeWithUs } from './child-guard.js';
import { copyData } from './postgres-data.js';
import type { TestPostgres } from './test-postgres.js';

/**
 * Copies the data of a server as a snapshot of its volume does; the server is down meanwhile. The function returned puts the
 * server back to that state, at the same address and on the same timeline.
 */
export async function takeSnapshot(server: TestPostgres): Promise<() => Promise<void>> {
  const answer = await withClient(server.adminUrl, (client) => client.query('show data_directory'));
  const { data_directory: data } = answer.rows[0] as { readonly data_directory: string };
  const copy = `${data}-snapshot`;
  removeWithUs(copy);
  await server.shutDown('fast');
  copyData(data, copy);
  await server.startAgain();
  return async () => {
    await server.shutDown('immediate');
    rmSync(data, { recursive: true });
    copyData(copy, data);
    await server.startAgain();
  };
}
