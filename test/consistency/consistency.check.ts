import { parseArgs } from 'node:util';
import { runConsistencyCheck } from './consistency-run.js';
import { proveCheck } from './seeded-faults.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    servers: { type: 'string', default: '4' },
    // Worker processes per server, and the way to the database: none, direct-listen or polling.
    workers: { type: 'string' },
    pooler: { type: 'string' },
    // Of each server, such as --workers-read-directly.
    flag: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    // Checks the check: servers that are wrong on purpose have to be found.
    prove: { type: 'boolean', default: false },
    // Which of them, if not all.
    faults: { type: 'string' },
  },
});
const [seconds, servers, seed] = [Number(values.seconds), Number(values.servers), Number(values.seed)];
const workers = values.workers === undefined ? undefined : Number(values.workers);
const pooler = (['none', 'direct-listen', 'polling'] as const).find((mode) => mode === values.pooler);
if (
  ![seconds, servers, seed].every((value) => Number.isInteger(value) && value >= 0) ||
  servers < 1 ||
  (workers !== undefined && !(Number.isInteger(workers) && workers >= 1)) ||
  pooler !== values.pooler
) {
  const run = '[--seconds N] [--servers N] [--workers N] [--pooler none|direct-listen|polling] [--flag=F] [--seed N]';
  console.error(`usage: check:consistency [-- ${run}] | [-- --prove [--workers N] [--faults a,b]]`);
  process.exit(2);
}

const started = performance.now();
const log = (line: string) => console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s`, line);

async function main(): Promise<boolean> {
  if (values.prove) return proveCheck(log, workers, values.faults?.split(','));
  console.log(`consistency of ${servers} servers for ${seconds} s, seed ${seed} (repeat with --seed ${seed})`);
  const report = await runConsistencyCheck({
    seed,
    seconds,
    servers,
    past: true,
    flags: values.flag,
    log,
    ...(workers === undefined ? {} : { workers }),
    ...(pooler === undefined ? {} : { pooler }),
  });
  console.log(report.format());
  const { maxRSS } = process.resourceUsage();
  const failures = report.failures();
  console.log(failures === 0 ? '\nno violation' : `\n${failures} violations; repeat with --seed ${seed}`);
  console.log(`at most ${(maxRSS / 1024).toFixed(0)} MiB resident in the checker`);
  return failures === 0;
}

process.exitCode = (await main()) ? 0 : 1;
