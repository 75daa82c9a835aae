import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TestCluster, type TestServer } from '../test/e2e/support/test-cluster.js';

/**
 * What a start of `serve` costs over a database that is there already: time and processor time until `/readyz` answers
 * 200, and memory after ten idle seconds. It is started as users start it, with its compiled code kept from the start
 * before. Programs given as arguments (`bin/plinth.js` of other commits) take turns with this one. Then, once for each, what
 * requests of the first four seconds cost against those of the seconds 20 to 24 of a process that was busy all the time.
 * `npm run bench:start -- <file>...`
 */
const rounds = 6;
const ownProgram = fileURLToPath(new URL('../../bin/plinth.js', import.meta.url));
const programs = [ownProgram, ...process.argv.slice(2).map((path) => resolve(path))];

interface Start {
  readonly seconds: number;
  readonly processorSeconds: number;
  readonly mebibytes: number;
}

function processorSeconds({ process: { pid } }: TestServer): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMebibytes({ process: { pid } }: TestServer): number {
  const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

async function startOnce(cluster: TestCluster): Promise<Start> {
  const begin = performance.now();
  const server = await cluster.addServer();
  const seconds = (performance.now() - begin) / 1000;
  const processor = processorSeconds(server);
  await delay(10_000);
  const mebibytes = residentMebibytes(server);
  await server.stop();
  return { seconds, processorSeconds: processor, mebibytes };
}

/** Sends creates and gets in turn from several clients for some seconds; requests per second and their processor time. */
async function load(server: TestServer, seconds: number): Promise<Busy> {
  const path = '/api/v1/namespaces/default/configmaps';
  const end = performance.now() + seconds * 1000;
  const before = processorSeconds(server);
  let requests = 0;
  const client = async () => {
    while (performance.now() < end) {
      const name = `start-${serial++}`;
      const made = await server.client.post(path, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: { name },
      });
      const got = await server.client.get(`${path}/${name}`);
      if (made.status !== 201 || got.status !== 200) throw new Error(`${made.status}, ${got.status}`);
      requests += 2;
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return { perSecond: requests / seconds, microseconds: ((processorSeconds(server) - before) / requests) * 1e6 };
}

let serial = 0;

interface Busy {
  readonly perSecond: number;
  readonly microseconds: number;
}

async function warmUp(cluster: TestCluster): Promise<readonly [Busy, Busy]> {
  const server = await cluster.addServer();
  const first = await load(server, 4);
  await load(server, 16);
  const warm = await load(server, 4);
  await server.stop();
  return [first, warm];
}

function median(values: readonly number[]): string {
  return (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number).toFixed(2);
}

const clusters: TestCluster[] = [];
try {
  for (const program of programs) clusters.push(await TestCluster.start({ servers: 0, mainFile: program }));
  const starts = programs.map((): Start[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, cluster] of clusters.entries()) {
      const start = await startOnce(cluster);
      // The first start migrates, and compiles.
      if (round > 0) starts[i]?.push(start);
    }
  }
  console.log('median of', rounds, 'starts: seconds until ready, of these processor time, MiB when idle');
  for (const [i, program] of programs.entries()) {
    const of = starts[i] as Start[];
    console.log(
      median(of.map(({ seconds }) => seconds)),
      median(of.map((start) => start.processorSeconds)),
      median(of.map(({ mebibytes }) => mebibytes)),
      program,
    );
  }
  console.log('requests per second and microseconds of processor time for each: first four seconds, and warm');
  for (const [i, cluster] of clusters.entries()) {
    const shown = (await warmUp(cluster)).map((busy) => `${busy.perSecond.toFixed(0)} ${busy.microseconds.toFixed(0)}`);
    console.log(shown.join(', '), programs[i]);
  }
} finally {
  for (const cluster of clusters) await cluster.stop();
}
