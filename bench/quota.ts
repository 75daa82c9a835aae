import { randomUUID } from 'node:crypto';
import { createPostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import type { StoredObject, Write } from '../src/storage/storage.interface.js';
import { eventually, TestCluster } from '../test/e2e/support/test-cluster.js';

/**
 * What a quota costs (decision 9): creates by 16 clients of one server, in a namespace without and with a quota, and the
 * two ways to charge one, on storage alone. `npm run bench:quota -- <seconds>`
 */
const seconds = Number(process.argv[2] ?? 5);
const clients = 16;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Runs as many at a time as there are clients; prints the rate and the times. */
async function measure(name: string, work: (serial: number) => Promise<void>): Promise<void> {
  const times: number[] = [];
  let serial = 0;
  const until = performance.now() + seconds * 1000;
  const client = async () => {
    while (performance.now() < until) {
      const begin = performance.now();
      await work(serial++);
      times.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
  print(
    `${name.padEnd(44)} ${(times.length / seconds).toFixed(0).padStart(6)}/s  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`,
  );
}

async function overHttp(cluster: TestCluster): Promise<void> {
  const { client } = cluster.first;
  for (const withQuota of [false, true]) {
    const namespace = withQuota ? 'limited' : 'free';
    const path = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;
    await client.post('/api/v1/namespaces', { metadata: { name: namespace } });
    await eventually(
      async () => (await client.get(`${path('serviceaccounts')}/default`)).status === 200,
      'a default account',
    );
    if (withQuota) {
      const hard = { 'count/configmaps': '1000000', pods: '1000000', 'requests.cpu': '1000000' };
      await client.post(path('resourcequotas'), { metadata: { name: 'q' }, spec: { hard } });
      await eventually(
        async () => (await client.get(`${path('resourcequotas')}/q`)).body.status.hard !== undefined,
        'a counted quota',
      );
    }
    const create = (resource: string, content: object) => async (serial: number) => {
      const name = `o-${serial}`;
      const { status, text } = await client.post(path(resource), { metadata: { name }, ...content });
      if (status !== 201) throw new Error(text);
    };
    const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1m' } } }];
    const about = withQuota ? 'with a quota' : 'without a quota';
    await measure(`create ConfigMap ${about}`, create('configmaps', { data: { a: 'b' } }));
    await measure(`create Pod ${about}`, create('pods', { spec: { containers } }));
  }
}

/** Requests that share the next round while one is under way. */
class Rounds<T> {
  private waiting: { readonly item: T; readonly done: () => void; readonly failed: (error: unknown) => void }[] = [];
  private isRunning = false;

  constructor(private readonly round: (items: readonly T[]) => Promise<void>) {}

  add(item: T): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ item, done, failed });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0);
      try {
        await this.round(batch.map(({ item }) => item));
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.isRunning = false;
  }
}

async function onStorage(databaseUrl: string): Promise<void> {
  const storage = await createPostgresStorage({ databaseUrl });
  const key = (name: string) => ({ resource: 'things', namespace: 'n', name });
  const text = JSON.stringify({ metadata: { name: 'x' }, data: { a: 'b'.repeat(1000) } });
  try {
    await measure('storage: create alone', async () => {
      await storage.create(key(randomUUID()), randomUUID(), text);
    });
    let account: StoredObject = await storage.create(key('account'), 'u', '{"used":0}');
    const charged = (more: number) => JSON.stringify({ used: JSON.parse(account.json).used + more });
    const together = new Rounds<Write>(async (writes) => {
      const json = charged(writes.length);
      const { key, uid, resourceVersion: expected, json: previousJson } = account;
      const charge: Write = { op: 'update', key, uid, expected, json, previousJson };
      const [answer] = await storage.writeTogether([charge, ...writes]);
      if (answer?.kind !== 'written') throw new Error('the account was changed');
      account = { ...account, json, resourceVersion: answer.resourceVersion };
    });
    await measure('storage: charge in the transaction', () => {
      const uid = randomUUID();
      return together.add({ op: 'create', key: key(uid), uid, expected: null, json: text, previousJson: undefined });
    });
    const first = new Rounds<void>(async (items) => {
      const options = { cachedCopy: account };
      const { object } = await storage.guaranteedUpdate(account.key, options, () => ({
        kind: 'write',
        json: charged(items.length),
        uid: 'u',
      }));
      account = object;
    });
    await measure('storage: charge first, then create', async () => {
      await first.add();
      await storage.create(key(randomUUID()), randomUUID(), text);
    });
  } finally {
    await storage.stop();
  }
}

const cluster = await TestCluster.start({ servers: 1, controllers: true, fsync: true });
try {
  await overHttp(cluster);
  await onStorage(cluster.databaseUrl);
} finally {
  await cluster.stop();
}
