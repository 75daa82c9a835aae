// Sends the same queries to `plinth dns` and, where PLINTH_TEST_COREDNS names the program, to CoreDNS with the settings of kubeadm:
// both must answer the same, but for the differences that have a reason. Then measures both under load, and one client while another
// one floods the server: `npm run check:dns`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { processorSeconds } from '../e2e/support/processes.js';
import { brokenMessages, dnsCases } from './dns-cases.js';
import { DnsScene, type NamesProcess } from './dns-scene.js';
import { described, exchange, queryOf } from './exchange.js';
import { flood, measure } from './load.js';

const program = process.env.PLINTH_TEST_COREDNS;
const loadMs = Number(process.env.PLINTH_DNS_LOAD_MS ?? 5_000);

describe('names of a cluster', { timeout: 300_000 }, () => {
  let scene: DnsScene;
  let ours: NamesProcess;
  let theirs: NamesProcess | undefined;

  before(async () => {
    scene = await DnsScene.start();
    ours = await scene.ours('--client-qps=0');
    theirs = program === undefined ? undefined : await scene.theirs(program, false);
  });

  after(() => scene?.stop());

  /** Both responses; only that of this program where there is no other one. */
  async function both(message: Buffer, transport?: 'udp' | 'tcp') {
    const own = described(await exchange(ours.port, message, transport));
    return { own, other: theirs === undefined ? own : described(await exchange(theirs.port, message, transport)) };
  }

  function judge(own: readonly string[], other: readonly string[], differs: string | undefined): void {
    if (differs === undefined) assert.deepEqual(own, other);
    else if (theirs !== undefined) assert.notDeepEqual(own, other, `no difference any more: ${differs}`);
  }

  for (const each of dnsCases) {
    const { name, type, transport = 'udp', edns, ednsVersion, flags, class: recordClass } = each;
    const form = JSON.stringify({ edns, ednsVersion, flags, class: recordClass });
    it(`${name} ${type} over ${transport} ${form}`, async () => {
      const { own, other } = await both(queryOf(each), transport);
      judge(own, other, each.differs);
    });
  }

  for (const { what, message, differs } of brokenMessages) {
    it(`a message with ${what}`, async () => {
      const { own, other } = await both(message);
      judge(own, other, differs);
      const [first] = described(
        await exchange(ours.port, queryOf({ name: 'web.default.svc.cluster.local', type: 'A' })),
      );
      assert.match(first ?? '', /^NOERROR/, 'the next query');
    });
  }

  it('are found under load', async () => {
    const caching = program === undefined ? undefined : await scene.theirs(program, true);
    for (const [who, server] of [
      ['plinth dns', ours],
      ['CoreDNS', caching],
    ] as const) {
      if (server === undefined) continue;
      for (const [what, name] of [
        ['a service', 'web.default.svc.cluster.local'],
        ['a name of others', 'www.example.com'],
        ['no such name', 'www.example.com.default.svc.cluster.local'],
      ] as const) {
        const before = processorSeconds(server.process.pid as number);
        const { answered, lost } = await measure(server.port, queryOf({ name, type: 'A' }), loadMs);
        const seconds = processorSeconds(server.process.pid as number) - before;
        const each = ((seconds / answered) * 1_000_000).toFixed(1);
        console.log(
          `${who}, ${what}: ${Math.round((answered * 1000) / loadMs)} queries/s, ${each} us of processor time each, ${lost} lost`,
        );
        assert.ok(answered > 0);
      }
    }
  });

  it('are found by one client while another one floods the server', async () => {
    const limited = await scene.ours('--client-qps=1000');
    const ended = flood(
      limited.port,
      queryOf({ name: 'web.default.svc.cluster.local', type: 'A' }),
      '127.0.0.2',
      loadMs,
    );
    const { answered, lost } = await measure(
      limited.port,
      queryOf({ name: 'four.default.svc.cluster.local', type: 'A' }),
      loadMs,
      {
        ...{ atOnce: 1, pauseMs: 10, from: '127.0.0.3' },
      },
    );
    const { sent, answered: got } = await ended;
    console.log(
      `a flood of ${sent} queries got ${got} answers; beside it ${answered} of ${answered + lost} queries were answered`,
    );
    assert.equal(lost, 0);
    assert.ok(got < sent, 'the flood is limited');
  });
});
