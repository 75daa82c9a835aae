import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Fleet, type FleetOptions, type Measure } from './fleet/fleet.js';
import type { PeerKind } from './peers/peer.js';
import { plinthPeer } from './peers/plinth-peer.js';
import { referencePeer } from './peers/reference-peer.js';

/*
 * The heartbeats of a large fleet: each node renews its lease every 10 s and patches its status every 5 minutes, while pods
 * come and go. Prints latencies and the processor time that a renewal takes, everything else included.
 * `npm run bench:fleet -- [flags]`
 *   --nodes N           nodes (default 2,000); with --search, those of the first step
 *   --search            more nodes in each step, until renewals take longer than 1 s or gets longer than 100 ms (p99); then
 *                       steps in between
 *   --pods N            of each node (default 30)
 *   --churn N           pods per second that come, and as many that go (default 100)
 *   --gets N            of nodes per second (default 50)
 *   --seconds N         measured in each step (default 20), after --warm seconds (default 10)
 *   --connections N     requests under way at most (default 512)
 *   --peer reference    measures the reference with etcd as well, in the same run; only: it alone
 *   --binaries FOLDER   of kube-apiserver and etcd (default ~/.cache/reference-newest/bin)
 *   --postgres FOLDER   programs of a PostgreSQL that runs with the settings it comes with (default: the embedded one)
 *   --flag F            of Plinth's server; repeatable
 */
const { values: flags } = parseArgs({
  options: {
    nodes: { type: 'string', default: '2000' },
    search: { type: 'boolean', default: false },
    pods: { type: 'string', default: '30' },
    churn: { type: 'string', default: '100' },
    gets: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
    warm: { type: 'string', default: '10' },
    connections: { type: 'string', default: '512' },
    peer: { type: 'string' },
    binaries: { type: 'string', default: join(homedir(), '.cache/reference-newest/bin') },
    postgres: { type: 'string', default: '' },
    flag: { type: 'string', multiple: true, default: [] },
  },
});
const options: FleetOptions = {
  leaseSeconds: 10,
  statusSeconds: 300,
  podsPerNode: Number(flags.pods),
  churn: Number(flags.churn),
  getsPerSecond: Number(flags.gets),
  connections: Number(flags.connections),
};
const mostRenewalMs = 1_000;
const mostGetMs = 100;
/** Steps between the largest fleet that was served and the smallest that was not. */
const halvings = 2;

const plinth = plinthPeer('Plinth', flags.postgres, flags.flag);
const reference = referencePeer('reference', flags.binaries);
const peers: readonly PeerKind[] = { reference: [plinth, reference], only: [reference] }[flags.peer ?? ''] ?? [plinth];
// The reference's store is looked for there.
process.env.PATH = `${flags.binaries}${delimiter}${process.env.PATH}`;

const columns = [
  'server',
  'nodes',
  'renewals/s',
  'p50 ms',
  'p99 ms',
  'get p50',
  'get p99',
  'errors',
  'server us',
  'store us',
];
console.log(`| ${columns.join(' | ')} |\n| --- |${' ---: |'.repeat(columns.length - 1)}`);

function row(name: string, { nodes, renewals, seconds, renewal, gets, errors, serverUs, storeUs }: Measure): void {
  const cells = [nodes, renewals / seconds, renewal.p50, renewal.p99, gets.p50, gets.p99, errors, serverUs, storeUs];
  console.log(
    `| ${name} | ${cells.map((cell) => cell.toFixed(cell < 10 && !Number.isInteger(cell) ? 1 : 0)).join(' | ')} |`,
  );
}

function isServed({ renewal, gets, errors }: Measure): boolean {
  return renewal.p99 < mostRenewalMs && gets.p99 < mostGetMs && errors === 0;
}

/** Fleets only grow, so each step between two needs a server of its own. */
async function largest(kind: PeerKind): Promise<number> {
  let served = 0;
  let refused = Number.POSITIVE_INFINITY;
  let next = Number(flags.nodes);
  for (let step = 0; step <= halvings; step++) {
    const peer = await kind.start();
    try {
      const fleet = await Fleet.open(peer, options);
      do {
        await fleet.grow(next);
        const measure = await fleet.live(Number(flags.warm), Number(flags.seconds));
        row(kind.name, measure);
        if (isServed(measure)) served = next;
        else refused = next;
        next = refused === Number.POSITIVE_INFINITY ? next * 2 : Math.round((served + refused) / 2);
      } while (next > served && refused === Number.POSITIVE_INFINITY);
      fleet.close();
    } finally {
      await peer.stop();
    }
    if (refused - served <= served / 8) break;
  }
  return served;
}

async function once(kind: PeerKind): Promise<void> {
  const peer = await kind.start();
  try {
    const fleet = await Fleet.open(peer, options);
    await fleet.grow(Number(flags.nodes));
    row(kind.name, await fleet.live(Number(flags.warm), Number(flags.seconds)));
    fleet.close();
  } finally {
    await peer.stop();
  }
}

const found: string[] = [];
for (const kind of peers) {
  if (flags.search) found.push(`${kind.name}: ${await largest(kind)} nodes`);
  else await once(kind);
}
if (found.length > 0) console.log(`\nthe largest fleet that is served\n${found.join('\n')}`);
