import { parseArgs } from 'node:util';
import { runConsistencyCheck } from './consistency-run.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    servers: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const [seconds, servers, seed] = [Number(values.seconds), Number(values.servers), Number(values.seed)];
if (![seconds, servers, seed].every((value) => Number.isInteger(value) && value >= 0) || servers < 1) {
  console.error('usage: check:consistency [-- --seconds N] [--servers N] [--seed N]');
  process.exit(2);
}

const started = performance.now();
const elapsed = () => `${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s`;
console.log(`consistency of ${servers} servers for ${seconds} s, seed ${seed} (repeat with --seed ${seed})`);
const report = await runConsistencyCheck({ seed, seconds, servers, log: (line) => console.log(elapsed(), line) });
console.log(report.format());
console.log(
  report.failures() === 0 ? '\nno violation' : `\n${report.failures()} violations; repeat with --seed ${seed}`,
);
console.log(`${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB resident at the end`);
process.exitCode = report.failures() === 0 ? 0 : 1;
