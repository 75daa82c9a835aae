import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { networkConfiguration } from './network-configuration.js';
import { PodNetwork } from './pod-network.js';

const nodeWith = (...podCIDRs: string[]) =>
  ({ metadata: {}, spec: { podCIDR: podCIDRs[0], podCIDRs } }) as unknown as Node;

describe('the network of pods', () => {
  let folder: string;
  let reported: string[];
  before(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'plinth-network-'));
  });
  after(() => fs.rm(folder, { recursive: true, force: true }));

  async function networkIn(
    name: string,
    podCidr = '',
  ): Promise<{ readonly folder: string; readonly network: PodNetwork }> {
    const own = join(folder, name);
    reported = [];
    const bridgeSettings = join(folder, `${name}-settings`);
    await fs.mkdir(bridgeSettings);
    await fs.writeFile(join(bridgeSettings, 'bridge-nf-call-iptables'), '0\n');
    const setPodCidr = async (range: string) => void reported.push(range);
    const options = { configurationFolder: own, bridge: 'br7', addressesFolder: undefined, checksSenders: true };
    return {
      folder: own,
      network: new PodNetwork({
        options,
        podCidr,
        runtime: { setPodCidr },
        bridgeSettings,
        logger: new Logger('error', 'json'),
      }),
    };
  }

  const rangesIn = async (place: string) => {
    const { plugins } = JSON.parse(await fs.readFile(join(place, '10-plinth.conflist'), 'utf8'));
    return plugins[0].ipam.ranges.flat().map(({ subnet }: { subnet: string }) => subnet);
  };

  it('is a bridge with addresses of the ranges of the node and a default route for each family', () => {
    const ranges = ['10.244.1.0/24', 'fd00:244:0:1::/64'];
    const found = networkConfiguration(ranges, { bridge: 'cni0', addressesFolder: '/x' }) as {
      plugins: readonly { type: string; bridge?: string; ipMasq?: boolean; ipam?: object }[];
    };
    assert.deepEqual(
      found.plugins.map(({ type }) => type),
      ['bridge', 'portmap'],
    );
    assert.deepEqual([found.plugins[0]?.bridge, found.plugins[0]?.ipMasq], ['cni0', false]);
    assert.deepEqual(found.plugins[0]?.ipam, {
      type: 'host-local',
      ranges: [[{ subnet: '10.244.1.0/24' }], [{ subnet: 'fd00:244:0:1::/64' }]],
      routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
      dataDir: '/x',
    });
  });

  it('is configured when the node gets its ranges, and again when they change', async () => {
    const { folder: place, network } = await networkIn('own');
    network.seen(nodeWith());
    network.seen(nodeWith('10.244.1.0/24'));
    network.seen(nodeWith('10.244.1.0/24'));
    network.seen(nodeWith('10.244.2.0/24', 'fd00::/64'));
    await network.stop();
    assert.deepEqual(await rangesIn(place), ['10.244.2.0/24', 'fd00::/64']);
    assert.deepEqual(reported, ['10.244.1.0/24', '10.244.2.0/24,fd00::/64']);
    assert.deepEqual(await fs.readdir(place), ['10-plinth.conflist']);
  });

  it('has the range of the flag while the API has none', async () => {
    const { folder: place, network } = await networkIn('flag', '10.1.0.0/24');
    network.seen(nodeWith());
    await network.stop();
    assert.deepEqual(await rangesIn(place), ['10.1.0.0/24']);
    const setting = join(`${place}-settings`, 'bridge-nf-call-iptables');
    assert.equal(await fs.readFile(setting, 'utf8'), '1', 'rules for services see packets between pods');
  });

  it('is left to others who have configured one', async () => {
    const { folder: place, network } = await networkIn('others');
    await fs.mkdir(place);
    await fs.writeFile(join(place, '99-other.conf'), '{}');
    network.seen(nodeWith('10.244.1.0/24'));
    await network.stop();
    assert.deepEqual(await fs.readdir(place), ['99-other.conf']);
    assert.deepEqual(reported, ['10.244.1.0/24']);
  });

  it('is tried again after a failure', async () => {
    const { folder: place, network } = await networkIn('late');
    await fs.writeFile(place, 'no folder');
    network.seen(nodeWith('10.244.1.0/24'));
    await network.stop();
    assert.deepEqual(reported, []);
    await fs.rm(place);
    network.seen(nodeWith('10.244.1.0/24'));
    await network.stop();
    assert.deepEqual(await rangesIn(place), ['10.244.1.0/24']);
  });
});
