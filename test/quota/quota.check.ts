import { parseArgs } from 'node:util';
import { quotaDrill } from './quota-drill.js';

/** The race for quotas, as a program: `npm run check:quota -- --seconds 60`. Exits with 1 if anything was wrong. */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    servers: { type: 'string', default: '4' },
    clients: { type: 'string', default: '32' },
    'kill-every': { type: 'string', default: '8' },
  },
});
const log = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const faults = await quotaDrill({
  seconds: Number(values.seconds),
  servers: Number(values.servers),
  clients: Number(values.clients),
  killEvery: Number(values['kill-every']),
  random: Math.random,
  log,
});
for (const fault of faults.slice(0, 20)) log(`FAULT ${fault}`);
log(faults.length === 0 ? 'nothing was wrong' : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
