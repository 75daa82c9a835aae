import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { childrenOf, processorMicroseconds } from '../test/e2e/support/processes.js';
import { Sender } from './fairness/target.js';
import type { Peer, PeerKind } from './peers/peer.js';
import { plinthPeer } from './peers/plinth-peer.js';
import { referencePeer } from './peers/reference-peer.js';
import { Watchers } from './watches/watchers.js';
import type { Report } from './watches/watching.js';

/*
 * From a write to its event, and the processor time of the server for each event, opening of the watches not included:
 * `npm run bench:pulse -- [flags]`. One watch of everything, many of everything, and as many of the pods of one node each
 * (`fieldSelector=spec.nodeName=`) as a cluster has nodes. Over HTTP/1.1 (a connection for each watch) and HTTP/2 (250 on
 * a connection), in JSON and in protobuf as the Go client asks for it. Plinth beside the reference, in turn.
 *   --peers a,b         of plinth, reference (default: plinth)
 *   --binaries FOLDER   of kube-apiserver; etcd is on the PATH (default ~/.cache/reference-newest/bin)
 *   --works a,b         of one, many, nodes
 *   --protocols a,b     of http1, http2
 *   --formats a,b       of json, protobuf
 *   --watchers N        watches of `many` (default 500, 20 writes per second)
 *   --nodes a,b         watches of `nodes` (default 100,5000; 50 writes per second, each to the pod of another node)
 *   --seconds N         of each (default 5)
 *   --rounds N          how often, in turn (default 2; the first one warms up and is not shown)
 */
const { values: flags } = parseArgs({
  options: {
    peers: { type: 'string', default: 'plinth' },
    binaries: { type: 'string', default: join(homedir(), '.cache/reference-newest/bin') },
    works: { type: 'string', default: 'one,many,nodes' },
    protocols: { type: 'string', default: 'http1,http2' },
    formats: { type: 'string', default: 'json,protobuf' },
    watchers: { type: 'string', default: '500' },
    nodes: { type: 'string', default: '100,5000' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '2' },
  },
});
const list = (text: string) => text.split(',');
const seconds = Number(flags.seconds);

const accepts: Readonly<Record<string, string>> = {
  json: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf;stream=watch',
};

interface Work {
  readonly name: string;
  /** Paths to watch, without what all have in common. */
  readonly paths: readonly string[];
  readonly writesPerSecond: number;
  readonly eventsPerWrite: number;
  /** Method, path and body of a write. */
  write(serial: number, sent: string): readonly [string, string, object];
}

const namespace = 'pulse';
const maps = `/api/v1/namespaces/${namespace}/configmaps`;
const pods = `/api/v1/namespaces/${namespace}/pods`;
/** Nodes with a pod: each write goes to another one of them. */
const writtenNodes = 50;
const now = () => performance.timeOrigin + performance.now();

function ofEverything(name: string, watchers: number, writesPerSecond: number): Work {
  const text = 'key: value\n'.repeat(40);
  return {
    name,
    paths: Array<string>(watchers).fill(`${maps}?watch=1`),
    writesPerSecond,
    eventsPerWrite: watchers,
    write: (serial, sent) => ['POST', maps, { metadata: { name: `map-${serial}` }, data: { sent, text } }],
  };
}

function ofNodes(watchers: number): Work {
  return {
    name: `${watchers} watchers by node, 50 writes/s`,
    paths: Array.from(
      { length: watchers },
      (_, i) => `/api/v1/pods?watch=1&allowWatchBookmarks=1&fieldSelector=spec.nodeName%3Dnode-${i}`,
    ),
    writesPerSecond: 50,
    eventsPerWrite: 1,
    write: (serial, sent) => [
      'PATCH',
      `${pods}/pod-${serial % writtenNodes}`,
      { metadata: { annotations: { sent, note: 'x'.repeat(400) } } },
    ],
  };
}

const works = list(flags.works).flatMap((name): Work[] => {
  if (name === 'one') return [ofEverything('1 watcher, 50 writes/s', 1, 50)];
  const watchers = Number(flags.watchers);
  if (name === 'many') return [ofEverything(`${watchers} watchers, 20 writes/s`, watchers, 20)];
  return list(flags.nodes).map((count) => ofNodes(Number(count)));
});

const kinds: Readonly<Record<string, PeerKind>> = {
  plinth: plinthPeer('Plinth', '', ['--max-connections-per-address=0']),
  reference: referencePeer('reference', flags.binaries),
};

let serial = 0;

async function prepare(sender: Sender): Promise<void> {
  await sender.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  for (let i = 0; i < writtenNodes; i++) {
    const metadata = { name: `pod-${i}` };
    const spec = { nodeName: `node-${i}`, containers: [{ name: 'main', image: 'registry.example/image:1' }] };
    const { status } = await sender.send('POST', pods, { metadata, spec });
    if (status !== 201) throw new Error(`POST ${pods}: ${status}`);
  }
}

/** Writes at a steady rate, and waits until all events have come. */
async function write(work: Work, sender: Sender, watchers: Watchers): Promise<Report> {
  const began = performance.now();
  const writes = work.writesPerSecond * seconds;
  for (let i = 0; i < writes; i++) {
    await delay(Math.max(0, began + (i / work.writesPerSecond) * 1000 - performance.now()));
    const [method, path, body] = work.write(serial++, now().toFixed(6));
    const { status } = await sender.send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
  }
  const wanted = writes * work.eventsPerWrite;
  return watchers.reportOf(wanted);
}

/** Of a process and all its children. */
function familyMicroseconds(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + familyMicroseconds(child), processorMicroseconds(pid));
}

async function measure(peer: Peer, work: Work, http2: boolean, accept: string | undefined): Promise<readonly number[]> {
  const { url, token } = peer;
  const sender = new Sender({ name: 'pulse', url, token }, undefined, 1);
  const watchers = new Watchers();
  const use = (part: 'server' | 'store') => peer.roots[part].reduce((sum, pid) => sum + familyMicroseconds(pid), 0);
  try {
    await watchers.open({ url, token, http2, accept }, work.paths);
    // The first events of a watch (the objects that exist already) are not measured.
    await delay(1_000);
    await watchers.report();
    const before = [use('server'), use('store')];
    const { events, p50, p99 } = await write(work, sender, watchers);
    const [server, store] = [use('server'), use('store')].map((value, i) => (value - (before[i] as number)) / events);
    return [events, p50, p99, server as number, store as number];
  } finally {
    watchers.close();
    sender.close();
  }
}

const peers: { readonly name: string; readonly peer: Peer }[] = [];
try {
  for (const name of list(flags.peers)) {
    const kind = kinds[name];
    if (kind === undefined) throw new Error(`unknown peer: ${name}`);
    const peer = await kind.start();
    peers.push({ name: kind.name, peer });
    const sender = new Sender({ name, url: peer.url, token: peer.token }, undefined, 4);
    await prepare(sender);
    sender.close();
  }
  console.log('| Work | | server | events | p50, ms | p99, ms | processor time of an event, us: server + store |');
  console.log('| --- | --- | --- | ---: | ---: | ---: | ---: |');
  for (let round = 1; round <= Number(flags.rounds); round++) {
    for (const work of works) {
      for (const protocol of list(flags.protocols)) {
        for (const format of list(flags.formats)) {
          for (const { name, peer } of peers) {
            const row = await measure(peer, work, protocol === 'http2', accepts[format]);
            const [events, p50, p99, server, store] = row as [number, number, number, number, number];
            const cost = `${Number(server.toPrecision(3))} + ${Number(store.toPrecision(3))}`;
            const cells = [work.name, `${protocol}, ${format}`, name, events, p50.toFixed(1), p99.toFixed(1), cost];
            if (round > 1 || flags.rounds === '1') console.log(`| ${cells.join(' | ')} |`);
          }
        }
      }
    }
  }
} finally {
  for (const { peer } of peers) await peer.stop();
}
