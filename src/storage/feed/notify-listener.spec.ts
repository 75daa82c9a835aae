import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { silentObserver } from '../postgres/postgres-storage-options.js';
import { Session } from '../postgres/session.js';
import { type ListenConnection, NotifyListener } from './notify-listener.js';

describe('the listener', () => {
  let server: TestPostgres;
  let client: pg.Client;
  let proxy: TcpProxy;
  let listener: NotifyListener;
  let heard: (bigint | undefined)[];
  let errors: string[];
  let connections: number;
  let notified: (() => void)[];

  before(async () => {
    server = await startTestPostgres();
    client = new pg.Client({ connectionString: server.adminUrl });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await server.stop();
  });

  const start = async (
    options: {
      heartbeatMs?: number;
      heartbeatTimeoutMs?: number;
      probeTimeoutMs?: number;
      notify?: (channel: string, payload: string) => Promise<void>;
    } = {},
  ) => {
    proxy = await TcpProxy.start(server.port);
    heard = [];
    errors = [];
    connections = 0;
    notified = [];
    const notify = (): void => {
      for (const wake of notified.splice(0)) wake();
    };
    listener = new NotifyListener(
      () => {
        connections += 1;
        return Session.open({
          url: proxy.through(server.adminUrl),
          applicationName: 'listener under test',
          connectTimeoutMs: 30_000,
          role: 'listener',
          observer: silentObserver,
        });
      },
      {
        onVersion: (version) => {
          heard.push(version);
          notify();
        },
        onError: (error) => {
          errors.push(String(error));
          notify();
        },
        channel: async () => 'plinth_changes',
        notify:
          options.notify ??
          (async (channel, payload) => {
            await client.query('select pg_notify($1, $2)', [channel, payload]);
          }),
        heartbeat: async (connection, timeoutMs) => {
          await connection.execute('heartbeat', 'select 1', timeoutMs);
          notify();
        },
      },
      // Long limits, so that tests in which nothing may be late also pass on a busy machine.
      { heartbeatMs: 60_000, heartbeatTimeoutMs: 30_000, probeTimeoutMs: 30_000, ...options },
    );
    listener.start();
  };
  const stop = async (): Promise<void> => {
    await listener.stop();
    await proxy.stop();
  };
  /** Waits until a received version or an error makes the condition true. */
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise<void>((resolve) => notified.push(resolve));
  };
  const say = (payload: string) => client.query(`select pg_notify('plinth_changes', $1)`, [payload]);
  /**
   * Sends the notification again at every heartbeat until the condition is true. The listener may be between two
   * connections, or held up for longer than the condition lasts.
   */
  const sayUntil = async (payload: string, condition: () => boolean): Promise<void> => {
    while (!condition()) {
      await say(payload);
      await new Promise<void>((resolve) => notified.push(resolve));
    }
  };

  it('passes versions on and asks for a look at the log after every connection', async () => {
    await start();
    await until(() => heard.includes(undefined));
    await say('41');
    await until(() => heard.includes(41n));
    assert.deepEqual(heard, [undefined, 41n]);
    assert.deepEqual(errors, []);
    await stop();
  });

  it('says that it listens, and knows after a while that nobody else does', async () => {
    const peer = new pg.Client({ connectionString: server.adminUrl });
    await peer.connect();
    await peer.query('listen plinth_changes');
    const said: string[] = [];
    peer.on('notification', ({ payload = '' }) => said.push(payload));
    await start({ heartbeatMs: 50 });
    assert.equal(listener.mayHaveOthers, true);
    await until(() => !listener.mayHaveOthers);
    await sayUntil('listening 0123456789abcdef', () => listener.mayHaveOthers);
    await until(() => !listener.mayHaveOthers);
    const own = () => said.filter((payload) => payload !== 'listening 0123456789abcdef');
    while (own().length <= 2) await once(peer, 'notification');
    assert.match(own()[0] as string, /^listening [0-9a-f]{16}$/);
    assert.equal(new Set(own()).size, 1);
    assert.ok(heard.every((version) => version === undefined));
    await stop();
    assert.equal(listener.mayHaveOthers, true);
    await peer.end();
  });

  it('connects again when the server ends the connection', async () => {
    await start();
    await until(() => heard.length === 1);
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener under test'`,
    );
    await until(() => heard.length === 2);
    await say('42');
    await until(() => heard.includes(42n));
    assert.equal(connections, 2);
    await stop();
  });

  for (const side of ['client', 'server'] as const) {
    it(`notices that the socket was cut towards the ${side} without notice to the other end`, async () => {
      await start({ heartbeatMs: 100, heartbeatTimeoutMs: 300 });
      await until(() => heard.length > 0);
      const before = connections;
      proxy.cutSilently(side);
      await until(() => connections > before);
      await sayUntil('43', () => heard.includes(43n));
      await stop();
    });
  }

  it('notices a connection that has gone silent', async () => {
    await start({ heartbeatMs: 100, heartbeatTimeoutMs: 300 });
    await until(() => heard.length > 0);
    const before = errors.length;
    proxy.holdAnswers();
    await until(() => errors.length > before);
    proxy.cut();
    await sayUntil('44', () => heard.includes(44n));
    await stop();
  });

  it('says so and does not listen when notifications do not arrive', async () => {
    // Simulates a pooler that accepts the notification and delivers it to nobody.
    await start({ probeTimeoutMs: 50, notify: async () => {} });
    await until(() => heard.length === 1);
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? '', /notifications do not arrive/);
    await say('45');
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener under test'`,
    );
    await until(() => heard.length === 2);
    assert.deepEqual(heard, [undefined, undefined]);
    assert.equal(errors.filter((error) => error.includes('do not arrive')).length, 1, 'said once');
    await stop();
  });

  it('takes a notification that arrived while the process was held up for one that came in time', async () => {
    const acceptor = createServer().listen(0, '127.0.0.1');
    await once(acceptor, 'listening');
    const sender = connect((acceptor.address() as AddressInfo).port, '127.0.0.1');
    const [receiver] = (await once(acceptor, 'connection')) as [Socket];
    const connection: ListenConnection = {
      execute: async () => [],
      onNotification: (callback) => void receiver.on('data', (chunk: Buffer) => callback(chunk.toString())),
      onBroken: () => {},
      close: async () => {},
    };
    const faults: unknown[] = [];
    const connected = Promise.withResolvers<void>();
    const own = new NotifyListener(
      async () => connection,
      {
        onVersion: () => connected.resolve(),
        onError: (error) => faults.push(error),
        channel: async () => 'plinth_changes',
        notify: async (_channel, payload) => {
          setImmediate(() => {
            sender.write(payload);
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
          });
        },
        heartbeat: async () => {},
      },
      { heartbeatMs: 60_000, heartbeatTimeoutMs: 30_000, probeTimeoutMs: 20 },
    );
    own.start();
    await connected.promise;
    await own.stop();
    sender.destroy();
    receiver.destroy();
    acceptor.close();
    assert.deepEqual(faults, []);
  });
});
