import { existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type LoadOptions, type Result, runWork, works } from './peers/load.js';
import { type Peer, type PeerKind, useOf } from './peers/peer.js';
import { plinthPeer } from './peers/plinth-peer.js';
import { referencePeer, shimPeer } from './peers/reference-peer.js';
import { bars, behind, costs, type Measured, type Run, table } from './peers/report.js';
import { docs, writeSection } from './write-section.js';

/*
 * Plinth beside its alternatives, one after the other on the same machine: the reference server over its usual store, and
 * the reference server over PostgreSQL through a SQL shim (kine). Each starts over an empty store and does all kinds of
 * work. `npm run bench:peers -- --loadgen FILE [flags]`
 *   --loadgen FILE      the load generator: prints one JSON line per scenario
 *   --binaries FOLDER   of kube-apiserver, etcd and kine (default ~/.cache/reference-newest/bin). What is not there is
 *                       left out, and the run says so
 *   --postgres FOLDER   programs of a PostgreSQL that runs with the settings it comes with (default that of Debian 15)
 *   --peers a,b         of plinth, plinth-stock, reference, shim, shim-stock (default all but shim-stock)
 *   --flag F            of Plinth's server; repeatable
 *   --works a,b         only works whose names contain one of these, and creates of Pods (default all)
 *   --objects N         Pods to read (default 10,000)
 *   --seconds N         of each kind of work (default 4)
 *   --rounds N          how often, in turn; the table shows medians (default 1)
 *   --warm N            work of each kind before, in seconds; 0, the default, measures from the first request on
 *   --http2             one connection of HTTP/2 instead of many of HTTP/1.1
 *   --write NAME        puts the tables into the section peers-NAME of docs/benchmarks.md, and draws docs/peers-NAME.svg
 */
const { values: flags } = parseArgs({
  options: {
    loadgen: { type: 'string' },
    binaries: { type: 'string', default: join(homedir(), '.cache/reference-newest/bin') },
    postgres: { type: 'string', default: '/usr/lib/postgresql/15/bin' },
    peers: { type: 'string', default: 'plinth,plinth-stock,reference,shim' },
    flag: { type: 'string', multiple: true, default: [] },
    works: { type: 'string', default: '' },
    objects: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
    warm: { type: 'string', default: '0' },
    http2: { type: 'boolean', default: false },
    write: { type: 'string' },
  },
});
if (flags.loadgen === undefined) throw new Error('--loadgen names the load generator');

const kinds: Readonly<Record<string, { readonly kind: PeerKind; readonly needs: readonly string[] }>> = {
  plinth: { kind: plinthPeer('Plinth', '', flags.flag), needs: [] },
  'plinth-stock': {
    kind: plinthPeer('Plinth, stock PostgreSQL', flags.postgres, flags.flag),
    needs: [join(flags.postgres, 'postgres')],
  },
  reference: {
    kind: referencePeer('reference', flags.binaries),
    needs: ['kube-apiserver', 'etcd'].map((program) => join(flags.binaries, program)),
  },
  shim: { kind: shimPeer('reference on PostgreSQL', flags.binaries, ''), needs: shimNeeds() },
  'shim-stock': {
    kind: shimPeer('reference on stock PostgreSQL', flags.binaries, flags.postgres),
    needs: [...shimNeeds(), join(flags.postgres, 'postgres')],
  },
};

function shimNeeds(): string[] {
  return [join(flags.binaries, 'kube-apiserver'), join(flags.binaries, 'kine')];
}

const load: LoadOptions = {
  program: resolve(flags.loadgen),
  objects: Number(flags.objects),
  seconds: Number(flags.seconds),
  http2: flags.http2,
  namespace: 'bench',
};
/** Short, on few objects, in a namespace of its own. */
const warmUp: LoadOptions = { ...load, namespace: 'warm', objects: 500, seconds: Number(flags.warm) };

/** Other works read what creates of Pods make. */
const wanted = [...works].filter(
  ([name]) => name.startsWith('create Pod') || flags.works.split(',').some((part) => name.includes(part)),
);

async function measure(peer: Peer): Promise<Run> {
  if (warmUp.seconds > 0) for (const [, work] of wanted) await runWork(peer, work, warmUp);
  const results = new Map<string, Result>();
  const [server, store] = [useOf(peer.roots.server), useOf(peer.roots.store)];
  for (const [work, how] of wanted) {
    // The first list in a form pays for making it.
    if (warmUp.seconds > 0 && typeof how !== 'string') await runWork(peer, how, { ...load, seconds: warmUp.seconds });
    const result = await runWork(peer, how, load);
    results.set(work, result);
    console.log(JSON.stringify({ work, ...result }));
  }
  const [serverAfter, storeAfter] = [useOf(peer.roots.server), useOf(peer.roots.store)];
  const since = (now: number, before: number) => now - before;
  return {
    results,
    server: { ...serverAfter, processorSeconds: since(serverAfter.processorSeconds, server.processorSeconds) },
    store: { ...storeAfter, processorSeconds: since(storeAfter.processorSeconds, store.processorSeconds) },
  };
}

const chosen: { readonly kind: PeerKind; readonly runs: Run[] }[] = [];
for (const name of flags.peers.split(',')) {
  const entry = kinds[name];
  if (entry === undefined) throw new Error(`no peer is called ${name}`);
  const missing = entry.needs.filter((file) => !existsSync(file));
  if (missing.length > 0) console.error(`${entry.kind.name} is left out: there is no ${missing.join(', ')}`);
  else chosen.push({ kind: entry.kind, runs: [] });
}
for (let round = 1; round <= Number(flags.rounds); round++) {
  for (const { kind, runs } of chosen) {
    console.log(`${kind.name}, round ${round}`);
    const peer = await kind.start();
    try {
      runs.push(await measure(peer));
    } finally {
      await peer.stop();
    }
  }
}
const measured: Measured[] = chosen.map(({ kind, runs }) => ({ name: kind.name, runs }));
const base = measured.find(({ name }) => name === 'reference') ?? (measured.at(-1) as Measured);
const own = measured.find(({ name }) => name === 'Plinth');
if (own !== undefined && own !== base) console.log(`${behind(own, base)}\n`);
const text = `${table(measured, base)}\n\n${costs(measured, base)}`;
console.log(text);
if (flags.write !== undefined) {
  const protocol = flags.http2 ? 'HTTP/2' : 'HTTP/1.1';
  const state = warmUp.seconds > 0 ? 'warm' : 'from the first request on';
  writeFileSync(
    join(docs, `peers-${flags.write}.svg`),
    bars(`Work per second against the reference (1), ${protocol}, ${state}`, measured, base),
  );
  writeSection(`peers-${flags.write}`, text);
}
