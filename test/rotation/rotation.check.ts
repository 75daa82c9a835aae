import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '../../src/storage/postgres/migrate.js';
import { TestCluster } from '../e2e/support/test-cluster.js';
import { RotationLoad } from './rotation-load.js';
import { type Account, newPassword, RotationScene } from './rotation-scene.js';

/*
 * Credentials of the database that change every five seconds while clients write, read and watch through two servers, and
 * while all connections to the database are cut, so that new ones need the new credentials. No request may fail. The
 * database takes nobody without TLS. `npm run check:rotation`; ROTATIONS changes the number of changes of each way.
 */

const rotations = Number(process.env.ROTATIONS ?? 6);
const everyMs = 5000;
/** For how long role and file differ: a new connection is refused meanwhile. */
const betweenMs = 300;
const [writers, readers] = [8, 4];

interface Way {
  readonly name: string;
  /** By which program the servers reach the database. */
  readonly through: 'direct' | 'haproxy' | 'pooler';
  /** Parameters of the URL, and flags. */
  readonly parameters?: (scene: RotationScene) => string;
  readonly flags?: (scene: RotationScene, account: Account) => readonly string[];
  /** Gives the password of the account to the servers. */
  readonly hand?: (scene: RotationScene, account: Account, password: string) => void;
}

const passwordFile = (scene: RotationScene, _account: Account, password: string) =>
  scene.replace('password', `${password}\n`);
const byFile = (scene: RotationScene) => [`--database-password-file=${scene.path('password')}`];

const ways: readonly Way[] = [
  { name: '--database-password-file', through: 'direct', flags: byFile, hand: passwordFile },
  {
    name: '--database-password-command, whose output is kept for long',
    through: 'direct',
    flags: (scene) => [`--database-password-command=cat ${scene.path('password')}`],
    hand: passwordFile,
  },
  {
    name: '--database-url-file',
    through: 'direct',
    flags: (scene) => [`--database-url-file=${scene.path('url')}`],
    hand: (scene, account, password) =>
      scene.replace('url', scene.url(account, 'direct').replace('@', `:${password}@`)),
  },
  {
    name: 'a password file of libpq',
    through: 'direct',
    parameters: (scene) => `&passfile=${scene.path('pgpass')}`,
    hand: (scene, { name }, password) => scene.replace('pgpass', `*:*:${name}:${name}:${password}\n`),
  },
  { name: '--database-password-file through HAProxy', through: 'haproxy', flags: byFile, hand: passwordFile },
  { name: '--database-password-file through PgBouncer', through: 'pooler', flags: byFile, hand: passwordFile },
  {
    name: 'client certificates that live for nine seconds',
    through: 'direct',
    parameters: (scene) => `&sslcert=${scene.path('client.crt')}&sslkey=${scene.path('client.key')}`,
  },
];

describe('changing credentials under load', () => {
  let scene: RotationScene;

  before(async () => {
    scene = await RotationScene.start();
  });
  after(() => scene.stop());

  for (const way of ways) {
    it(way.name, async (t) => {
      const { hand } = way;
      const account = await scene.account(hand === undefined ? 'certified' : undefined);
      const change = async (round: number): Promise<number> => {
        if (hand === undefined) {
          await scene.renewCertificate(account);
          return scene.cut(account);
        }
        const password = newPassword();
        // Administrators do it in either order.
        const steps = [() => scene.changePassword(account, password), async () => hand(scene, account, password)];
        if (round % 2 === 1) steps.reverse();
        await steps[0]?.();
        const cut = await scene.cut(account);
        await delay(betweenMs);
        await steps[1]?.();
        return cut;
      };
      await change(0);
      const url = scene.url(account, way.through, way.parameters?.(scene));
      await migrate(hand === undefined ? url : url.replace('@', `:${account.password}@`).replace(/&passfile=.*/, ''));
      const namesFile = way.flags?.(scene, account).some((flag) => flag.startsWith('--database-url-file')) ?? false;
      const cluster = await TestCluster.start({
        servers: 2,
        accounts: false,
        flags: way.flags?.(scene, account) ?? [],
        route: async () => ({ databaseUrl: namesFile ? '' : url, stop: async () => {} }),
      });
      try {
        const load = new RotationLoad(cluster.servers.map(({ client }) => client));
        await load.start(writers, readers);
        let cut = 0;
        for (let round = 1; round <= rotations; round++) {
          await delay(everyMs);
          cut += await change(round);
        }
        await delay(everyMs);
        await load.stop();
        const { requests, events, failures, longestMs } = load;
        t.diagnostic(
          `${rotations} changes, ${cut} connections cut; ${requests} requests, ${events} events, ` +
            `${failures.length} failures; the longest request took ${Math.round(longestMs)} ms`,
        );
        assert.ok(cut >= rotations && requests > 100 && events > 0);
        assert.deepEqual(failures.slice(0, 20), []);
        const [plain] = await scene.database.sql(
          `select count(*) from pg_stat_ssl join pg_stat_activity using (pid) where usename = '${account.name}' and not ssl`,
        );
        assert.equal(plain?.count, '0');
      } finally {
        await cluster.stop();
      }
    });
  }
});
