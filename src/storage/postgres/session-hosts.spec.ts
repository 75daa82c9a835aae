import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres, type TestStandby } from '../../../test/support/test-postgres.js';
import { databaseTargets } from '../../base/database/database-targets.js';
import { DatabaseUrlError } from '../../base/database/database-url-error.js';
import { silentObserver } from './postgres-storage-options.js';
import { Session } from './session.js';

const strings = (url: string): string[] => databaseTargets(url, {}).map((target) => target.connectionString);

describe('hosts of a connection URL', () => {
  it('become one URL each, with the rest unchanged', () => {
    const cases: [string, string[]][] = [
      ['postgresql://u:p@a:5432/d', ['postgresql://u:p@a:5432/d']],
      [
        'postgres://u:p%40x@a:1,b,[::1]:3/d?connect_timeout=5',
        [
          'postgres://u:p%40x@a:1/d?connect_timeout=5',
          'postgres://u:p%40x@b/d?connect_timeout=5',
          'postgres://u:p%40x@[::1]:3/d?connect_timeout=5',
        ],
      ],
      ['postgres://a,b/d?target_session_attrs=read-write', ['postgres://a/d', 'postgres://b/d']],
      ['postgres://u@/d?host=a,b&port=1,2', ['postgres://u@/d?host=a&port=1', 'postgres://u@/d?host=b&port=2']],
      ['postgres://u@/d?host=a,b&port=9', ['postgres://u@/d?host=a&port=9', 'postgres://u@/d?host=b&port=9']],
      ['postgres://u@/d?host=/run/sockets', ['postgres://u@/d?host=/run/sockets']],
      ['postgres://a/d?target_session_attrs=any', ['postgres://a/d']],
    ];
    for (const [url, expected] of cases) assert.deepEqual(strings(url), expected, url);
  });

  it('may ask for a standby where one is wanted, whatever the variable says of the primary', () => {
    const variables = { PGTARGETSESSIONATTRS: 'primary' };
    const [first, second] = databaseTargets('postgres://a,b/d?target_session_attrs=standby', variables, 'standby');
    assert.deepEqual([first?.connectionString, second?.connectionString], ['postgres://a/d', 'postgres://b/d']);
    assert.equal(databaseTargets('postgres://a/d', variables, 'standby').length, 1);
    assert.throws(
      () => databaseTargets('postgres://a/d?target_session_attrs=primary', {}, 'standby'),
      DatabaseUrlError,
    );
  });

  it('each get the TLS parameters of the URL', () => {
    const targets = databaseTargets('postgres://a,b/d?sslmode=require&connect_timeout=5', {});
    assert.equal(targets.length, 2);
    for (const { connectionString, tls } of targets) {
      assert.match(connectionString, /^postgres:\/\/[ab]\/d\?connect_timeout=5$/);
      assert.equal(tls.encrypt, 'always');
    }
  });

  it('are refused when they make no sense, without repeating the password', () => {
    for (const url of [
      'postgres://u:secret@a,/d',
      'postgres://u:secret@a,:5432/d',
      'postgres://u:secret@/d?host=a,b&port=1,2,3',
      'postgres://u:secret@a,b/d?target_session_attrs=standby',
      'postgres://u:secret@a,b/d?target_session_attrs=read-only',
    ]) {
      assert.throws(
        () => databaseTargets(url, {}),
        (error: Error) => error instanceof DatabaseUrlError && !error.message.includes('secret'),
        url,
      );
    }
  });
});

describe('a session over several hosts', () => {
  let primary: TestPostgres;
  let standby: TestStandby;

  before(async () => {
    primary = await startTestPostgres({ settings: { wal_keep_size: '64MB' } });
    standby = await primary.createStandby();
  });
  after(async () => {
    await primary.stop();
    await standby.stop();
  });

  /** Each host has this much time. */
  let connectTimeoutMs = 30_000;
  const open = (...ports: number[]): Promise<Session> =>
    Session.open({
      url: `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres`,
      applicationName: 'test',
      connectTimeoutMs,
      role: 'reader',
      observer: silentObserver,
    });
  const portOf = async (session: Session): Promise<string | null | undefined> => {
    const [row] = await session.execute('port', `select current_setting('port')`, 30_000);
    await session.close();
    return row?.[0];
  };

  it('leads to the primary at any position, whatever the others do', async () => {
    const dead = await TcpProxy.start(1);
    const silent = await TcpProxy.start(primary.port);
    silent.holdAnswers();
    for (const hosts of [
      [primary.port, standby.port],
      [standby.port, primary.port],
      [dead.port, standby.port, primary.port],
    ]) {
      assert.equal(await portOf(await open(...hosts)), String(primary.port), hosts.join());
    }
    connectTimeoutMs = 3_000;
    assert.equal(await portOf(await open(silent.port, primary.port)), String(primary.port), 'one that is silent');
    connectTimeoutMs = 30_000;
    await assert.rejects(open(standby.port, dead.port), /every host of the database is a standby or does not answer/);
    await dead.stop();
    await silent.stop();
    const alone = await open(standby.port);
    assert.equal(await portOf(alone), String(standby.port), 'what is asked of it will tell');
  });
});
