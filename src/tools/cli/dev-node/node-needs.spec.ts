import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type NodeMachine, nodeProblem, pluginFolder } from './node-needs.js';

const present = [
  ...['containerd', 'runc'].map((name) => `/usr/bin/${name}`),
  ...['nft', 'ip'].map((name) => `/usr/sbin/${name}`),
  ...['bridge', 'host-local', 'loopback', 'portmap'].map((name) => `/usr/lib/cni/${name}`),
];

function machine(missing: readonly string[], more: Partial<NodeMachine> = {}): NodeMachine {
  return {
    ...{
      isRoot: true,
      isLinux: true,
      programFolders: ['/usr/bin', '/usr/sbin'],
      pluginFolders: ['/opt/cni/bin', '/usr/lib/cni'],
    },
    exists: (path) => present.includes(path) && !missing.includes(path),
    ...more,
  };
}

it('says what a machine lacks for real containers, and how to get it', () => {
  assert.equal(nodeProblem(machine([])), undefined);
  assert.equal(pluginFolder(machine([])), '/usr/lib/cni');
  assert.equal(nodeProblem(machine([], { isRoot: false })), 'a node with real containers needs root (run it as root)');
  assert.equal(
    nodeProblem(machine(['/usr/bin/containerd', '/usr/lib/cni/portmap'], { isRoot: false })),
    'a node with real containers needs root; containerd; the network plugins bridge, host-local, loopback, portmap (on Debian or ' +
      'Ubuntu, as root: apt-get install -y containerd runc containernetworking-plugins nftables iproute2)',
  );
  assert.match(nodeProblem(machine([], { isLinux: false })) ?? '', /needs Linux/);
});
