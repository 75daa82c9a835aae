import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Logger } from '../../../base/observability/logger.js';
import { LostNetworks } from './lost-networks.js';

const fiveMinutesMs = 300_000;

describe('LostNetworks', () => {
  let folder: string;
  let now: number;
  let done: string[];
  let listed: string[];
  let used: Set<string>;
  /** Namespaces that can't be removed. */
  let stuck: Set<string>;
  let namespaces: Map<string, readonly string[]>;
  let ownRanges: readonly string[];
  let lost: LostNetworks;
  beforeEach(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'plinth-lost-'));
    await fs.mkdir(join(folder, 'plinth'));
    now = 0;
    done = [];
    listed = ['known'];
    used = new Set();
    stuck = new Set();
    namespaces = new Map();
    ownRanges = ['10.244.1.0/24', 'fd00:1::/64'];
    lost = new LostNetworks({
      network: {
        get ownRanges() {
          return ownRanges;
        },
      },
      runtime: { listSandboxes: async () => listed.map((id) => ({ id })) as never },
      machine: {
        namespaces: async () => [...namespaces.keys()],
        addresses: async (name) => namespaces.get(name),
        unused: async (names) => names.filter((name) => !used.has(name)),
        removeNamespace: async (name) => {
          if (stuck.has(name)) throw new Error('it is busy');
          done.push(`namespace ${name}`);
        },
        release: async (id, ranges) => void done.push(`${id} of ${ranges.join()}`),
      },
      addressesFolder: folder,
      timers: { elapsed: () => now },
      logger: new Logger('error', 'json'),
    });
  });
  afterEach(() => fs.rm(folder, { recursive: true }));

  const record = (address: string, id: string) => fs.writeFile(join(folder, 'plinth', address), `${id}\r\neth0`);
  const lookLater = async () => {
    now += fiveMinutesMs;
    await lost.look();
  };

  it('removes what a runtime has lost when it has been unknown for five minutes', async () => {
    await record('10.244.1.2', 'known');
    await record('10.244.1.3', 'gone');
    await record('fd00:1::3', 'gone');
    namespaces.set('cni-1', ['127.0.0.1', '10.244.1.2']).set('cni-2', ['127.0.0.1', 'fd00:1::3', '10.244.1.3']);
    await lost.look();
    now += fiveMinutesMs - 1;
    await lost.look();
    assert.deepEqual(done, []);
    now += 1;
    await lost.look();
    assert.deepEqual(done, ['namespace cni-2', 'gone of 10.244.1.0/24,fd00:1::/64']);
  });

  it('leaves a sandbox alone that the runtime lists after all, and counts anew', async () => {
    await record('10.244.1.3', 'slow');
    await lost.look();
    listed = ['slow'];
    await lookLater();
    listed = [];
    await lookLater();
    assert.deepEqual(done, []);
    await lookLater();
    assert.deepEqual(done, ['slow of 10.244.1.0/24,fd00:1::/64'], 'also without a namespace');
  });

  it('waits for processes to end', async () => {
    await record('10.244.1.3', 'gone');
    namespaces.set('cni-2', ['10.244.1.3']);
    used.add('cni-2');
    await lost.look();
    await lookLater();
    assert.deepEqual(done, []);
    used.clear();
    await lost.look();
    assert.deepEqual(done, ['namespace cni-2', 'gone of 10.244.1.0/24,fd00:1::/64']);
  });

  it('removes namespaces that nobody is in and that are still empty ten minutes later', async () => {
    namespaces.set('cni-empty', []).set('cni-used', []).set('cni-other', ['127.0.0.1', '192.0.2.1']);
    used.add('cni-used');
    await lost.look();
    namespaces.set('cni-new', []);
    await lookLater();
    assert.deepEqual(done, []);
    await lookLater();
    assert.deepEqual(done, ['namespace cni-empty']);
    namespaces.delete('cni-empty');
    namespaces.set('cni-new', ['127.0.0.1', '10.244.1.9']);
    await lookLater();
    await lookLater();
    assert.deepEqual(done, ['namespace cni-empty']);
  });

  it('is not held up by one that cannot be removed', async () => {
    await record('10.244.1.3', 'first');
    await record('10.244.1.4', 'second');
    namespaces.set('cni-1', ['10.244.1.3']).set('cni-2', ['10.244.1.4']).set('cni-3', []).set('cni-4', []);
    stuck.add('cni-1').add('cni-3');
    await lost.look();
    await lookLater();
    await lookLater();
    assert.deepEqual(done.slice(0, 2), ['namespace cni-2', 'second of 10.244.1.0/24,fd00:1::/64']);
    assert.ok(done.includes('namespace cni-4'));
  });

  it('touches no addresses of others, and no networks that other programs have configured', async () => {
    await record('10.244.2.3', 'neighbour');
    await record('10.244.1.4', '../../etc');
    await record('last_reserved_ip.0', 'gone');
    await record('lock', '');
    await lost.look();
    await lookLater();
    assert.deepEqual(done, []);
    await record('10.244.1.3', 'gone');
    namespaces.set('cni-empty', []);
    ownRanges = [];
    for (let look = 0; look < 4; look++) await lookLater();
    assert.deepEqual(done, []);
  });
});
