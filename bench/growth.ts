import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { childrenOf, proportionalBytes } from '../test/e2e/support/processes.js';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { type Figures, forMs, Load } from './growth/load.js';
import { plot } from './growth/plot.js';
import { podJson } from './pod-json.js';
import { docs, writeSection } from './write-section.js';

/*
 * How the server grows: one process over one Postgres (fsync on), filled step by step with Pods and ConfigMaps of about
 * 2 KB, half each; at every size the same requests. Prints one JSON line per figure.
 *   --objects 1000,10000,100000   sizes, counted over both kinds
 *   --seconds 3                   time per figure
 *   --write                       also writes the table and the plots into docs/
 */

const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '1000,10000,100000' },
    seconds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const sizes = flags.objects.split(',').map(Number);
const durationMs = Number(flags.seconds) * 1000;
const pods = '/api/v1/namespaces/default/pods';
const configMaps = '/api/v1/namespaces/default/configmaps';
const pageSize = 500;
/** One object in a hundred has a certain value of the label. */
const groups = 100;

interface Step {
  readonly size: number;
  readonly create: Figures;
  readonly get: Figures;
  readonly byLabel: Figures;
  readonly page: Figures;
  readonly list: Figures;
  readonly serverBytes: number;
  readonly postgresBytes: number;
}

function bodyOf(i: number): { readonly path: string; readonly body: string } {
  const labels = { app: 'growth', group: `g${i % groups}` };
  if (i % 2 === 0) {
    const { spec } = JSON.parse(podJson(`p-${i}`, i));
    return { path: pods, body: JSON.stringify({ metadata: { name: `p-${i}`, labels }, spec }) };
  }
  const data = { settings: `${i} `.repeat(1600 / `${i} `.length) };
  return { path: configMaps, body: JSON.stringify({ metadata: { name: `c-${i}`, labels }, data }) };
}

function postgresBytes(server: number): number {
  // The database server is a child of this process, like the API server; its sessions are children of it.
  const postmasters = childrenOf(process.pid).filter((pid) => pid !== server);
  return postmasters
    .flatMap((pid) => [pid, ...childrenOf(pid)])
    .reduce((sum, pid) => {
      try {
        return sum + proportionalBytes(pid);
      } catch {
        // A session that has just ended.
        return sum;
      }
    }, 0);
}

async function step(load: Load, from: number, size: number, server: number): Promise<Step> {
  let next = from;
  const createUntil = (end: number) =>
    load.measure(
      16,
      () => next < end,
      async () => {
        const { path, body } = bodyOf(next++);
        return (await load.send('POST', path, 201, body))[0];
      },
    );
  // Figures for creates are those of the last tenth.
  await createUntil(size - Math.ceil((size - from) / 10));
  const create = await createUntil(size);
  const random = () => {
    const i = Math.floor(Math.random() * size);
    return i % 2 === 0 ? `${pods}/p-${i}` : `${configMaps}/c-${i}`;
  };
  const read = async (path: string) => (await load.send('GET', path, 200))[0];
  await load.measure(16, forMs(durationMs / 3), () => read(random()));
  const get = await load.measure(16, forMs(durationMs), () => read(random()));
  const label = () => `${pods}?labelSelector=group%3Dg${2 * Math.floor((Math.random() * groups) / 2)}`;
  await read(label());
  const byLabel = await load.measure(4, forMs(durationMs), () => read(label()));
  let token = '';
  const page = await load.measure(1, forMs(durationMs), async () => {
    const [length, text] = await load.send('GET', `${pods}?limit=${pageSize}&continue=${token}`, 200, undefined, true);
    token = /"continue":"([^"]+)"/.exec(text)?.[1] ?? '';
    return length;
  });
  const list = await load.measure(1, forMs(durationMs), () => read(pods));
  const made = {
    size,
    create,
    get,
    byLabel,
    page,
    list,
    serverBytes: proportionalBytes(server),
    postgresBytes: postgresBytes(server),
  };
  console.log(JSON.stringify(made, (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value)));
  return made;
}

function cell({ perSecond, p50Ms, p99Ms }: Figures): string {
  const shown = (value: number) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));
  return `${shown(perSecond)} (${shown(p50Ms)}, ${shown(p99Ms)})`;
}

function table(steps: readonly Step[]): string {
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20).toLocaleString('en');
  return [
    '| Objects | create, 16 clients | get, 16 clients | list by label, 1 %, 4 clients | page of 500 | list of all Pods | server MiB | Postgres MiB |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...steps.map(
      (s) =>
        `| ${s.size.toLocaleString('en')} | ${cell(s.create)} | ${cell(s.get)} | ${cell(s.byLabel)} | ${cell(s.page)} | ` +
        `${cell(s.list)} | ${megabytes(s.serverBytes)} | ${megabytes(s.postgresBytes)} |`,
    ),
  ].join('\n');
}

function write(steps: readonly Step[]): void {
  const at = steps.map(({ size }) => size);
  const times = (name: string, of: (s: Step) => Figures) => ({ name, values: steps.map((s) => of(s).p50Ms) });
  writeFileSync(
    join(docs, 'growth-latency.svg'),
    plot('Median time of a request by objects stored', 'ms', at, [
      times('create', (s) => s.create),
      times('get', (s) => s.get),
      times('list by label, 1 %', (s) => s.byLabel),
      times('page of 500', (s) => s.page),
      times('list of all Pods', (s) => s.list),
    ]),
  );
  writeFileSync(
    join(docs, 'growth-memory.svg'),
    plot('Memory by objects stored', 'MiB', at, [
      { name: 'server', values: steps.map((s) => s.serverBytes / 2 ** 20) },
      { name: 'Postgres', values: steps.map((s) => s.postgresBytes / 2 ** 20) },
    ]),
  );
  writeSection('growth', table(steps));
}

const cluster = await TestCluster.start({ servers: 1, fsync: true });
const load = new Load(cluster.first.url, cluster.pki.authority, tokens.admin);
try {
  const server = cluster.first.process.pid as number;
  const steps: Step[] = [];
  for (const size of sizes) steps.push(await step(load, steps.at(-1)?.size ?? 0, size, server));
  console.log(table(steps));
  if (flags.write) write(steps);
} finally {
  load.close();
  await cluster.stop();
}
