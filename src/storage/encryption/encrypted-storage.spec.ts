import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { KmsServer } from '../../../test/support/kms-server.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { createPostgresStorage, type PostgresStorage } from '../postgres/postgres-storage.js';
import { collectUpTo, failsWith, put, storageContract } from '../testing/storage-contract.js';
import { type ConfiguredProvider, Encryption } from './encryption.js';
import { AesGcmProvider } from './providers/aes-gcm-provider.js';
import { connectKms } from './providers/kms-client.js';
import { KmsProvider } from './providers/kms-provider.js';
import { measuredKms } from './providers/measured-kms.js';
import type { Sealing } from './sealing.js';

let server: TestPostgres;
before(async () => {
  server = await startTestPostgres({ fsync: false });
});
after(() => server.stop());

const secretOf = (name: string) => ({ resource: 'secrets', namespace: 'default', name });
const jsonOf = (text: string) => JSON.stringify({ metadata: {}, data: { password: text } });
const secrets = (...providers: ConfiguredProvider[]) => new Encryption([{ resources: ['secrets'], providers }]);

/** A database and several stores over it, like processes that each have their own configuration. */
class Place {
  private readonly stores: PostgresStorage[] = [];
  private constructor(
    private readonly databaseUrl: string,
    private readonly client: pg.Client,
  ) {}

  static async use(work: (place: Place) => Promise<void>): Promise<void> {
    const databaseUrl = await server.createTestDatabase();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const place = new Place(databaseUrl, client);
    try {
      await work(place);
    } finally {
      await Promise.all(place.stores.map((store) => store.stop()));
      await client.end();
    }
  }

  async store(sealing?: Sealing): Promise<PostgresStorage> {
    const store = await createPostgresStorage({ databaseUrl: this.databaseUrl, sealing });
    this.stores.push(store);
    return store;
  }

  /** The text that is stored in the table of objects. */
  async stored(name: string): Promise<string> {
    const { rows } = await this.client.query<{ text: string }>(
      `select data::text as text from plinth.objects where resource = 'secrets' and name = $1`,
      [name],
    );
    return rows[0]?.text ?? '';
  }

  async sql(text: string): Promise<void> {
    await this.client.query(text);
  }

  /** All database rows about secrets. */
  async everything(): Promise<string> {
    const { rows } = await this.client.query(
      `select data::text from plinth.objects where resource = 'secrets'
       union all select data::text || coalesce(previous::text, '') from plinth.changes where resource = 'secrets'`,
    );
    return JSON.stringify(rows);
  }
}

describe('the store with everything encrypted', () => {
  storageContract(async () => {
    const sealing = new Encryption([
      { resources: ['*.*'], providers: [new AesGcmProvider('key', randomBytes(32)), 'identity'] },
    ]);
    const storage = await createPostgresStorage({ databaseUrl: await server.createTestDatabase(), sealing });
    return { storage, stop: () => storage.stop() };
  });
});

describe('encrypted secrets', () => {
  const [key1, key2] = [new AesGcmProvider('one', randomBytes(32)), new AesGcmProvider('two', randomBytes(32))];

  it('stand nowhere in the database, and come back from every read', () =>
    Place.use(async (place) => {
      const store = await place.store(secrets(key1));
      const other = await place.store(secrets(key1));
      const from = await other.head();
      await store.create(secretOf('db'), 'u', jsonOf('hidden-1'));
      await put(store, secretOf('db'), jsonOf('hidden-2'));
      const { resourceVersion } = (await put(store, secretOf('db'), jsonOf('hidden-3'))).object;
      assert.ok(!(await place.everything()).includes('hidden'));
      assert.equal((await other.get(secretOf('db')))?.json, jsonOf('hidden-3'));
      const older = await other.list({ resource: 'secrets', at: resourceVersion - 1n });
      assert.deepEqual(
        older.items.map(({ json }) => json),
        [jsonOf('hidden-2')],
      );
      const changes = await collectUpTo(await other.watch({ resource: 'secrets' }, from), resourceVersion);
      assert.deepEqual(
        changes.map(({ json, previousJson }) => [json, previousJson]),
        [
          [jsonOf('hidden-1'), undefined],
          [jsonOf('hidden-2'), jsonOf('hidden-1')],
          [jsonOf('hidden-3'), jsonOf('hidden-2')],
        ],
      );
      // A writer that lost the race receives the current state, decrypted.
      const stale = await other.get(secretOf('db'));
      await put(store, secretOf('db'), jsonOf('hidden-4'));
      const seen: unknown[] = [];
      await other.guaranteedUpdate(secretOf('db'), { cachedCopy: stale as never }, (current) => {
        seen.push(current?.json);
        return { kind: 'write', json: jsonOf('hidden-5'), uid: 'u' };
      });
      assert.deepEqual(seen, [jsonOf('hidden-3'), jsonOf('hidden-4')]);
    }));

  it('are encrypted anew by an update that changes nothing', () =>
    Place.use(async (place) => {
      const same = (store: PostgresStorage) =>
        store.guaranteedUpdate(secretOf('db'), {}, () => ({ kind: 'unchanged' as const }));
      const plain = await place.store();
      await plain.create(secretOf('db'), 'u', jsonOf('x'));
      const first = await place.store(secrets(key1, 'identity'));
      const written = await same(first);
      assert.equal(written.outcome, 'written');
      assert.match(await place.stored('db'), /^"enc:aesgcm:one:/);
      assert.deepEqual((await same(first)).outcome, 'unchanged');
      const second = await place.store(secrets(key2, key1));
      assert.equal((await same(second)).outcome, 'written');
      assert.match(await place.stored('db'), /^"enc:aesgcm:two:/);
      assert.equal((await same(await place.store(secrets('identity', key2)))).outcome, 'written');
      assert.equal(await place.stored('db'), jsonOf('x'));
    }));

  it('that can not be decrypted fail alone', () =>
    Place.use(async (place) => {
      const writer = await place.store(secrets(key1));
      const stranger = await place.store(secrets(key2));
      const pods = await stranger.watch({ resource: 'pods' }, await stranger.head());
      const followed = await stranger.watch({ resource: 'secrets' }, await stranger.head());
      await writer.create(secretOf('theirs'), 'u', jsonOf('x'));
      await stranger.create(secretOf('ours'), 'u', jsonOf('y'));
      const pod = await writer.create({ resource: 'pods', namespace: 'default', name: 'p' }, 'u', '{}');
      const [theirs, ours] = await Promise.allSettled([
        stranger.get(secretOf('theirs')),
        stranger.get(secretOf('ours')),
      ]);
      assert.ok(theirs.status === 'rejected' && failsWith('Unreadable')(theirs.reason));
      assert.equal(ours.status === 'fulfilled' && ours.value?.json, jsonOf('y'));
      await assert.rejects(stranger.list({ resource: 'secrets' }), failsWith('Unreadable'));
      await assert.rejects(put(stranger, secretOf('theirs'), jsonOf('z')), failsWith('Unreadable'));
      await assert.rejects(collectUpTo(followed, pod.resourceVersion), failsWith('Unreadable'));
      assert.equal((await collectUpTo(pods, pod.resourceVersion)).length, 1);
      // A create under an existing key reports that the key exists, even if it can't decrypt the object there.
      const again = Promise.allSettled([
        stranger.create(secretOf('theirs'), 'u2', jsonOf('z')),
        stranger.create(secretOf('new'), 'u2', jsonOf('z')),
      ]);
      assert.deepEqual(
        (await again).map(({ status }) => status),
        ['rejected', 'fulfilled'],
      );
    }));

  it('put in the place of others by the administrator of the database are refused', () =>
    Place.use(async (place) => {
      const store = await place.store(secrets(key1));
      await store.create(secretOf('mine'), 'u1', jsonOf('of my own'));
      await store.create(secretOf('admin'), 'u2', jsonOf('of the administrator'));
      await place.sql(`update plinth.objects set data = (select data from plinth.objects where name = 'admin')
        where name = 'mine'`);
      await assert.rejects(store.get(secretOf('mine')), failsWith('Unreadable'));
      await place.sql(`update plinth.objects set data = '{"data": {"password": "planted"}}' where name = 'mine'`);
      await assert.rejects(store.get(secretOf('mine')), failsWith('Unreadable'));
      assert.equal((await store.get(secretOf('admin')))?.json, jsonOf('of the administrator'));
    }));
});

describe('a key management service', () => {
  const kms = new KmsServer();
  const providers: KmsProvider[] = [];
  /** The calls that were reported. */
  const seen: string[] = [];
  before(() => kms.start());
  after(() => {
    for (const provider of providers) provider.stop();
    kms.remove();
  });

  async function provider(now?: () => number): Promise<KmsProvider> {
    const observe = (method: string, code: string) => void seen.push(`${method} ${code}`);
    const connect = async () => measuredKms(await connectKms(kms.socket, 5_000), observe);
    const own = new KmsProvider({ name: 'vault', connect, ...(now && { now }) });
    providers.push(own);
    await own.start();
    return own;
  }

  it('is asked once for each process, not for each object', () =>
    Place.use(async (place) => {
      const before = { ...kms.calls };
      const writer = await place.store(secrets(await provider()));
      const reader = await place.store(secrets(await provider()));
      await Promise.all(
        Array.from({ length: 100 }, (_, i) => writer.create(secretOf(`s${i}`), `u${i}`, jsonOf(`v${i}`))),
      );
      assert.equal((await reader.list({ resource: 'secrets' })).items.length, 100);
      await put(reader, secretOf('s1'), jsonOf('changed'));
      assert.equal((await writer.get(secretOf('s1')))?.json, jsonOf('changed'));
      assert.match(await place.stored('s1'), /^"enc:kms:vault:/);
      const asked = (method: string) => (kms.calls[method] ?? 0) - (before[method] ?? 0);
      assert.deepEqual([asked('Status'), asked('Encrypt'), asked('Decrypt')], [2, 2, 2]);
      const calls = ['Decrypt', 'Encrypt', 'Status'].map((method) => `/v2.KeyManagementService/${method} OK`);
      assert.deepEqual([...new Set(seen)].sort(), calls);
    }));

  it('may change its key: what is written anew has the new one, what stands there is still read', () =>
    Place.use(async (place) => {
      const older = await place.store(secrets(await provider()));
      await older.create(secretOf('db'), 'u', jsonOf('x'));
      kms.keyId = 'key-2';
      const newer = await place.store(secrets(await provider()));
      const read = await newer.get(secretOf('db'));
      assert.equal(read?.json, jsonOf('x'));
      assert.equal(read?.isOutdated, true);
      const same = () => newer.guaranteedUpdate(secretOf('db'), {}, () => ({ kind: 'unchanged' }));
      assert.equal((await same()).outcome, 'written');
      assert.equal((await same()).outcome, 'unchanged');
      assert.equal((await older.get(secretOf('db')))?.json, jsonOf('x'));
    }));

  it('that does not answer stops writes after three minutes, and reads of what nobody read before', () =>
    Place.use(async (place) => {
      const writer = await place.store(secrets(await provider()));
      await writer.create(secretOf('db'), 'u', jsonOf('x'));
      let now = 0;
      const own = await provider(() => now);
      const store = await place.store(secrets(own));
      kms.stop();
      await assert.rejects(store.get(secretOf('db')), failsWith('Unreadable'));
      await store.create(secretOf('meanwhile'), 'u', jsonOf('y'));
      assert.equal((await store.get(secretOf('meanwhile')))?.json, jsonOf('y'));
      now = 180_001;
      await assert.rejects(store.create(secretOf('late'), 'u', jsonOf('y')), failsWith('Unavailable'));
      const dead = await provider();
      assert.throws(() => dead.check());
      const start = await place.store(secrets(dead));
      await assert.rejects(start.create(secretOf('late'), 'u', jsonOf('y')), failsWith('Unavailable'));
      await kms.start();
      const back = () => store.get(secretOf('db')).catch(() => undefined);
      await eventually(async () => (await back())?.json === jsonOf('x'), 'the service is back');
    }));

  it('that is not well or speaks nonsense is not used', async () => {
    kms.healthz = 'sealed';
    const own = await provider();
    kms.healthz = 'ok';
    assert.throws(() => own.check(), /sealed/);
    assert.throws(() => own.seal(Buffer.from('x'), Buffer.from('')), failsWith('Unavailable'));
    kms.keyId = 'k'.repeat(1_025);
    assert.throws(() => own.check());
    const long = await provider();
    kms.keyId = 'key-3';
    assert.throws(() => long.check(), /no usable key/);
  });
});
