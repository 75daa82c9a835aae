import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, TestCluster, type TestServer } from './support/test-cluster.js';

/*
 * A request that is done is garbage, and costs next to nothing if it is collected with the young objects. What an old object
 * points to is not, even if that one is garbage as well: one table or list that leads from each request to the next makes
 * all of them old, with all texts that they had.
 */
const path = '/api/v1/namespaces/default/configmaps';
const names = Array.from({ length: 200 }, (_, i) => `short-${i}`);
const characters = 10_000;
const requests = 2_000;
/** A collection amid many open requests finds them alive. A fault that links all requests shows in every round. */
const rounds = 5;
let cluster: TestCluster;
let server: TestServer;

before(async () => {
  const { NODE_OPTIONS = '' } = process.env;
  process.env.NODE_OPTIONS = `${NODE_OPTIONS} --import=${new URL('./support/report-survivors.js', import.meta.url)}`;
  try {
    cluster = await TestCluster.start({ servers: 1, flags: ['--authorization-mode=RBAC'] });
  } finally {
    process.env.NODE_OPTIONS = NODE_OPTIONS;
  }
  server = cluster.first;
  for (const name of names) {
    const created = await server.client.post(path, { metadata: { name }, data: { text: 'x'.repeat(characters) } });
    assert.equal(created.status, 201);
  }
});

after(() => cluster.stop());

type Ask = (name: string, turn: number) => Promise<{ status: number }>;

async function everyRequest(ask: Ask, count: number) {
  let turn = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (turn < count) {
        const own = turn++;
        assert.equal((await ask(names[own % names.length] as string, own)).status, 200);
      }
    }),
  );
}

async function signal(line: RegExp): Promise<string> {
  const seen = server.log.length;
  server.process.kill('SIGUSR2');
  const found = await eventually(() => line.exec(server.log.slice(seen)) ?? undefined, `the line ${line} in the log`);
  return found[1] ?? '';
}

/**
 * The amounts that may survive each request, in bytes: some requests are always under way, and one text of some gets and
 * lists (about 7,500 bytes) gets old at times, for a reason that is not known. Of patches 15,000 to 16,000 survive, and up to
 * 25,000 on a busy machine. When nearly all survived, it was about 24,000 for each get, 36,000 for each patch and 16,000
 * for each list.
 */
const kinds: Readonly<Record<string, readonly [Ask, number]>> = {
  gets: [(name) => server.client.get(`${path}/${name}`), 14_000],
  patches: [
    (name, turn) => server.client.patch(`${path}/${name}`, 'merge', { metadata: { labels: { turn: String(turn) } } }),
    27_000,
  ],
  lists: [() => server.client.get(`${path}?limit=2`), 10_000],
};

describe('what requests leave behind', () => {
  for (const [kind, [ask, most]] of Object.entries(kinds)) {
    it(`${kind}: little survives a collection of young objects`, async () => {
      // Compiled code and caches come first.
      await everyRequest(ask, 1_000);
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < rounds && least >= most; round++) {
        await signal(/^survivors are counted$/m);
        await everyRequest(ask, requests);
        least = Math.min(least, Number(await signal(/^survivors (\d+)$/m)) / requests);
      }
      assert.ok(least < most, `${Math.round(least)} bytes for each`);
    });
  }
});
