import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../test/support/test-postgres.js';
import { ClusterOptions } from './base/config/cluster.options.js';
import { StorageOptions } from './base/config/storage.options.js';
import { Logger } from './base/observability/logger.js';
import { openApplicationContext } from './base/process/application-context.js';
import { ResourcesAppModule } from './resources-app.module.js';
import { PostgresStorage } from './storage/postgres/postgres-storage.js';
import { StorageError } from './storage/storage-error.js';
import { untilReady } from './storage/until-ready.js';

describe('the start of a process', () => {
  let server: TestPostgres;
  let databaseUrl: string;
  let lines: string[];
  let onLine: (() => void) | undefined;
  const logger = new Logger('info', 'text', (line) => {
    lines.push(line);
    onLine?.();
  });
  before(async () => {
    server = await startTestPostgres({ fsync: true });
    databaseUrl = await server.createTestDatabase();
  });
  after(() => server.stop());

  const open = (url: string, signal?: AbortSignal) => {
    lines = [];
    const options = { storage: { ...new StorageOptions(), databaseUrl: url }, cluster: new ClusterOptions() };
    return openApplicationContext(ResourcesAppModule.of(options, logger, signal), logger);
  };
  const askedToWait = () =>
    new Promise<void>((resolve) => {
      onLine = () => {
        if (lines.some((line) => line.includes('the start waits for the database'))) resolve();
      };
    });

  it('waits for a database that does not answer, and says so', { timeout: 60_000 }, async () => {
    await server.shutDown('fast');
    const reported = askedToWait();
    const opening = open(databaseUrl);
    await reported;
    await server.startAgain();
    const opened = await opening;
    assert.ok((await opened.get(PostgresStorage).head()) > 0n);
    await opened.close();
  });

  it('ends when it is told to stop meanwhile', { timeout: 60_000 }, async () => {
    const stop = new AbortController();
    const reported = askedToWait();
    const opening = assert.rejects(open('postgresql://127.0.0.1:1/plinth', stop.signal), StorageError);
    await reported;
    stop.abort();
    await opening;
  });

  it('does not wait for a fault that waiting cannot heal', { timeout: 60_000 }, async () => {
    const never = new AbortController().signal;
    await assert.rejects(open(`${databaseUrl}_missing`, never), /does not exist/);
    await assert.rejects(open(databaseUrl.replace('postgres@', 'nobody@'), never), /does not exist/);
    await assert.rejects(open(server.adminUrl, never), /migrate first/);
    assert.ok(!lines.some((line) => line.includes('waits')));
  });

  it('repeats a step that is ahead of the database', async () => {
    let attempts = 0;
    const waits: unknown[] = [];
    const answer = await untilReady(
      async () => {
        attempts += 1;
        if (attempts < 3) throw new StorageError('TooLargeVersion', 'version 9 is too large; the newest is 9');
        return attempts;
      },
      { signal: new AbortController().signal, onWait: (error) => waits.push(error) },
    );
    assert.equal(answer, 3);
    assert.equal(waits.length, 1);
    await assert.rejects(
      untilReady(() => Promise.reject(new TypeError('a fault')), {
        signal: new AbortController().signal,
        onWait: () => {},
      }),
      TypeError,
    );
  });
});
