import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { it } from 'node:test';
import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { AgentOptions } from '../agent-options.js';
import { RuntimeHealth } from '../runtime-health.js';
import { fileSystem } from './machine.js';
import { NodeDescription } from './node-description.js';
import { reportedNodeStatus } from './node-status.js';
import { shownVersion } from './shown-version.js';

it('a node has the version of its runtime without what a distribution has appended', () => {
  for (const [version, shown] of [
    ['1.6.20~ds1', '1.6.20'],
    ['v2.1.4', '2.1.4'],
    ['2.0.0-rc.1+build', '2.0.0-rc.1+build'],
    ['1.35', '1.35'],
    ['1.2.3.4', '1.2.3.4'],
    ['master', 'master'],
  ] as const)
    assert.equal(shownVersion(version), shown);
});

it('a node has its disk in bytes, less what must stay free, and says whether it is in a user namespace', async () => {
  const rootFolder = tmpdir();
  const { capacity } = await fileSystem(rootFolder);
  const description = await NodeDescription.read({
    ...{ rootFolder, nodeIPs: ['192.0.2.1'], nodeName: 'n', hostname: 'n', maxPods: 110, port: 1, version: 'v' },
    ...{ reserved: {}, thresholds: [{ signal: 'nodefs.available', percent: 10, amount: 0 }] },
  } as unknown as AgentOptions);
  const { 'ephemeral-storage': disk = '' } = description.capacity;
  assert.equal(quantityValue(disk), capacity);
  assert.doesNotMatch(disk, /i$/);
  const free = quantityValue(description.allocatable['ephemeral-storage'] ?? '') / capacity;
  assert.ok(free > 0.8999999 && free < 0.9000001, String(free));
  const { nodeInfo } = reportedNodeStatus(description.state(new RuntimeHealth({} as never)), [], 0);
  assert.equal(typeof nodeInfo.runningInUserNamespace, 'boolean');
});
