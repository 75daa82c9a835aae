import { isIP } from 'node:net';
import { Max, Min } from 'class-validator';
import { Check, pairProblem } from './check.js';
import { Flag } from './flag.js';
import { parseCidr } from './network.js';
import { nodeLeaseDurationFlag } from './shared-flags.js';

const quantity = /^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const quantityCheck = () =>
  Check<string>('quantity', (text) => (quantity.test(text) ? undefined : 'must be a quantity such as 8 or 32Gi'));

function prefixProblem(text: string): string | undefined {
  return /^[a-z0-9]([-a-z0-9.]{0,200})$/.test(text) ? undefined : 'must begin a name: small letters, digits, - and .';
}

function zonesProblem(zones: readonly string[]): string | undefined {
  const label = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
  return zones.length > 0 && zones.every((zone) => label.test(zone)) ? undefined : 'must be names such as zone-a';
}

/** The simulated nodes that a process runs. */
export class SimulatedNodesOptions {
  @Flag({ name: 'count', type: 'int', unit: 'nodes', usage: 'How many nodes to simulate.' })
  @Min(1, { message: 'must be 1 or more' })
  @Max(10_000, { message: 'must not be above 10000' })
  readonly count: number = 3;

  @Flag({
    name: 'name-prefix',
    type: 'string',
    unit: 'text',
    usage: 'The nodes are named by this and a number from 0.',
  })
  @Check('prefix', prefixProblem)
  readonly namePrefix: string = 'sim-';

  @Flag({ name: 'node-cpu', type: 'string', unit: 'quantity', usage: 'Processors of each node.' })
  @quantityCheck()
  readonly nodeCpu: string = '8';

  @Flag({ name: 'node-memory', type: 'string', unit: 'quantity', usage: 'Memory of each node.' })
  @quantityCheck()
  readonly nodeMemory: string = '32Gi';

  @Flag({ name: 'node-ephemeral-storage', type: 'string', unit: 'quantity', usage: 'Disk space of each node.' })
  @quantityCheck()
  readonly nodeEphemeralStorage: string = '100Gi';

  @Flag({ name: 'node-pods', type: 'int', unit: 'pods', usage: 'How many pods each node takes.' })
  @Min(1, { message: 'must be 1 or more' })
  readonly nodePods: number = 110;

  @Flag({ name: 'node-region', type: 'string', unit: 'name', usage: 'Region label of the nodes.' })
  @Check<string>('region', (region) => zonesProblem([region]))
  readonly nodeRegion: string = 'sim-region';

  @Flag({ name: 'node-zones', type: 'list', unit: 'names', usage: 'Zone labels that the nodes get in turn.' })
  @Check('zones', zonesProblem)
  readonly nodeZones: readonly string[] = ['sim-zone-a', 'sim-zone-b', 'sim-zone-c'];

  @Flag({
    name: 'node-address',
    type: 'string',
    unit: 'address',
    usage:
      'Address of this machine that all nodes report as theirs. With the default, on Linux, up to 1000 nodes have one each: ' +
      '127.0.16.1 and so on.',
  })
  @Check<string>('address', (address) => (isIP(address) === 0 ? 'must be an IP address' : undefined))
  readonly nodeAddress: string = '127.0.0.1';

  @Flag({
    name: 'pod-cidr',
    type: 'string',
    unit: 'cidr',
    usage: 'Addresses of pods, in equal parts for the nodes. A node with a podCIDR of its own uses that.',
  })
  @Check<string>('range', (text) =>
    parseCidr(text) === undefined ? 'must be a range such as 10.128.0.0/9' : undefined,
  )
  readonly podCidr: string = '10.128.0.0/9';

  @Flag(nodeLeaseDurationFlag)
  @Check<number>('duration', (value) => (value >= 1000 ? undefined : 'must be 1s or more'))
  readonly nodeLeaseMs: number = 40_000;

  @Flag({
    name: 'restart-back-off',
    type: 'duration',
    usage: 'First pause before a container that ended is started again; it doubles up to 5m0s.',
  })
  @Check<number>('duration', (value) => (value > 0 ? undefined : 'must be more than 0'))
  readonly restartBackOffMs: number = 10_000;

  @Flag({
    name: 'node-port',
    type: 'int',
    unit: 'port',
    usage: 'Port of --node-address on which the nodes serve the logs of containers. 0: any.',
  })
  @Min(0, { message: 'must be between 0 and 65535' })
  @Max(65_535, { message: 'must be between 0 and 65535' })
  readonly nodePort: number = 0;

  @Flag({
    name: 'node-client-ca-file',
    type: 'string',
    unit: 'file',
    usage:
      'Authorities in PEM of the clients that may read logs at --node-port, such as the one of --kubelet-client-certificate of the ' +
      'server. Without them everybody may who reaches the port.',
  })
  readonly nodeClientCaFile: string | undefined = undefined;

  @Flag({
    name: 'node-tls-cert-file',
    type: 'string',
    unit: 'file',
    usage: 'Certificate in PEM that the nodes show at --node-port. Default: one that they sign themselves.',
  })
  @Check('pair', pairProblem('nodeTlsPrivateKeyFile'))
  readonly nodeTlsCertFile: string | undefined = undefined;

  @Flag({
    name: 'node-tls-private-key-file',
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --node-tls-cert-file.',
  })
  @Check('pair', pairProblem('nodeTlsCertFile'))
  readonly nodeTlsPrivateKeyFile: string | undefined = undefined;

  @Flag({ name: 'pod-events', type: 'bool', usage: 'Whether nodes write events about their pods.' })
  readonly podEvents: boolean = true;

  @Flag({
    name: 'simulated-volumes',
    type: 'bool',
    usage:
      'Whether to make and remove the volumes of storage classes with the provisioner sim.plinth.dev/volumes. The ' +
      'credentials then need the rights of the ClusterRole system:persistent-volume-provisioner.',
  })
  readonly volumes: boolean = true;

  @Flag({
    name: 'simulated-storage-class',
    type: 'bool',
    usage:
      'Whether to make the StorageClass simulated, with the provisioner of --simulated-volumes, as the default if there is none.',
  })
  readonly storageClass: boolean = false;
}
