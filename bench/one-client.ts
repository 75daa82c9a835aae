import { execFileSync } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { Asker } from './asks.js';

/*
 * What one client waits for when it creates one object after another, and how much of it nobody can avoid: the time that
 * the disk needs, the same statement by a C program (pgbench over libpq) and by the driver in Node, and then the request.
 * In turns, so that all see the same machine. `npm run bench:one-client -- [flags]`
 *   --pgbench FILE   pgbench (default that of Debian 15)
 *   --loadgen FILE   the load generator, for the request as a client in Go sends it; without it a client in Node does
 *   --rounds N       turns of each (default 10)
 *   --writes N       in each turn (default 200)
 */
const { values: flags } = parseArgs({
  options: {
    pgbench: { type: 'string', default: '/usr/lib/postgresql/15/bin/pgbench' },
    loadgen: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    writes: { type: 'string', default: '200' },
  },
});
const writes = Number(flags.writes);

const cluster = await TestCluster.start({ servers: 1, fsync: true, flags: ['--authorization-mode=Node,RBAC'] });
const folder = mkdtempSync(join(tmpdir(), 'plinth-one-client-'));
const asker = new Asker(cluster.first.url, tokens.admin, 1);
const client = new pg.Client({ connectionString: cluster.databaseUrl });
await client.connect();

const maps = '/api/v1/namespaces/default/configmaps';
const data = { 'config.yaml': 'key: value\n'.repeat(40) };
let serial = 0;
const nextName = () => `one-${serial++}`;

/** The text that the server stores for such an object. */
async function storedText(): Promise<string> {
  await asker.create(maps, { metadata: { name: 'template' }, data });
  const { rows } = await client.query(
    `select data from plinth.objects where resource = 'configmaps' and name = 'template'`,
  );
  const [row] = rows as { data: unknown }[];
  return typeof row?.data === 'string' ? row.data : JSON.stringify(row?.data);
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

/** Milliseconds to make 4 KB durable at the end of a file that has its length already, like the log of PostgreSQL. */
function disk(): number[] {
  const file = openSync(join(folder, 'log'), 'w');
  const page = Buffer.alloc(8192, 'x');
  writeSync(file, Buffer.alloc(8192 * writes));
  fdatasyncSync(file);
  const took: number[] = [];
  for (let i = 0; i < writes; i++) {
    const began = performance.now();
    writeSync(file, page, 0, page.length, i * page.length);
    fdatasyncSync(file);
    took.push(performance.now() - began);
  }
  closeSync(file);
  return took;
}

const template = await storedText();
/** pgbench takes a colon before a letter or digit for a variable. */
const literal = `E'${template.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll(':', '\\x3a')}'::text`;
const statement = (name: string, uid: string, batch: string) =>
  `select index, version, current_uid, current_version, current_data from plinth.write_batch(null, ${batch}::bigint, array[3]::smallint[], null, array['configmaps'], array['default'], array[${name}], array[${uid}], array[null]::bigint[], array[${literal}], null, null, null, false)`;

/** Milliseconds of each transaction of a script by pgbench. */
function bench(script: string): number[] {
  const file = join(folder, 'script.sql');
  writeFileSync(file, script);
  const prefix = join(folder, 'times');
  execFileSync(
    flags.pgbench,
    [
      '-n',
      '-M',
      'prepared',
      '-c',
      '1',
      '-t',
      String(writes),
      '-f',
      file,
      '-l',
      `--log-prefix=${prefix}`,
      cluster.databaseUrl,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const logs = readdirSync(folder).filter((name) => name.startsWith('times.'));
  const lines = logs.flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
  for (const name of logs) rmSync(join(folder, name));
  return lines.map((line) => Number(line.split(' ')[2]) / 1000);
}

function byPgbench(): number[] {
  const round = serial++;
  return bench(
    `\\set n random(1, 1000000000)\n\\set b random(1, 9000000000000000000)\n${statement(`'pgbench-${round}-' || (:n)::text`, `gen_random_uuid()::text`, ':b')};\n`,
  );
}

async function byDriver(): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < writes; i++) {
    const began = performance.now();
    await client.query({
      name: 'write',
      text: statement('$1::text', '$2::text', '$3'),
      values: [nextName(), randomUUID(), String(randomInt(2 ** 47))],
      rowMode: 'array',
    });
    took.push(performance.now() - began);
  }
  return took;
}

async function byRequest(): Promise<number[]> {
  if (flags.loadgen !== undefined) {
    const args = [`-server=${cluster.first.url}`, `-token=${tokens.admin}`, '-d=1s', '-ns=default', '-only=create1'];
    const out = execFileSync(flags.loadgen, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    return [JSON.parse(out.trim()).p50_ms as number];
  }
  const took: number[] = [];
  for (let i = 0; i < writes; i++) {
    const began = performance.now();
    await asker.create(maps, { metadata: { name: nextName() }, data });
    took.push(performance.now() - began);
  }
  return took;
}

const works: Readonly<Record<string, () => readonly number[] | Promise<readonly number[]>>> = {
  'the disk: 8 KB and fdatasync': disk,
  'a round trip to PostgreSQL, by pgbench': () => bench('select 1;\n'),
  'the statement, by pgbench (C, libpq)': byPgbench,
  'the statement, by the driver in Node': byDriver,
  'a create by one client': byRequest,
};
try {
  const medians = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
  // The first two turns warm everything up.
  for (let round = -2; round < Number(flags.rounds); round++) {
    for (const [name, work] of Object.entries(works)) {
      const middle = median(await work());
      if (round >= 0) medians.get(name)?.push(middle);
    }
  }
  console.log('| | median, ms | least median of a turn, ms |\n| --- | ---: | ---: |');
  for (const [name, values] of medians) {
    console.log(`| ${name} | ${median(values).toFixed(2)} | ${Math.min(...values).toFixed(2)} |`);
  }
} finally {
  asker.close();
  await client.end();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
