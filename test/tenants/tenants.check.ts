import { parseArgs } from 'node:util';
import type { Attack } from './attack.js';
import { allAttacks } from './attacks/index.js';
import { Malice, type Row, type Times } from './malice.js';
import type { Plane } from './plane.js';
import { startPlinth } from './plinth-plane.js';
import { startReference } from './reference-plane.js';
import { tableOf } from './table.js';

/*
 * A tenant's day of malice: an account with the role `admin` in one namespace tries everything that could harm others,
 * one attack after the other, while honest tenants measure. Fails when a process ends, takes more memory than its
 * limits, honest tenants are held up, or things are not as before within a minute.
 *   --minutes N        for all attacks together (default 30)
 *   --seconds N        for each attack, whatever --minutes says
 *   --only a,b         the attacks with these names; `list` prints the names
 *   --variant dev      one process of `plinth dev` in place of two servers and two processes of loops
 *   --reference DIR    the same attacks also against the reference, from its binaries; `--variant none` for it alone
 *   --fresh            each attack meets a new control plane, so that what is stored by one does not burden the next
 *   --brief            ends after the attacks, without the restart and the removal of what they stored
 *   --attackers N      processes that attack at one time (default 1)
 */
const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seconds: { type: 'string' },
    quiet: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
    variant: { type: 'string', default: 'serve' },
    reference: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    brief: { type: 'boolean', default: false },
    attackers: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '4' },
  },
});
const began = performance.now();
const log = (line: string) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);
/** Each attack also has a quiet period, preparations and a recovery. */
const partOfAttacks = 0.4;

function chosenAttacks(): readonly Attack[] {
  if (flags.only === '') return allAttacks;
  const names = flags.only.split(',');
  const unknown = names.filter((name) => !allAttacks.some((attack) => attack.name === name));
  if (unknown.length > 0) throw new Error(`there is no attack named ${unknown.join(', ')}; --only list names all`);
  return allAttacks.filter(({ name }) => names.includes(name));
}

async function day(start: () => Promise<Plane>, attacks: readonly Attack[], times: Times): Promise<Row[]> {
  const plane = await start();
  let malice: Malice | undefined;
  const rows: Row[] = [];
  try {
    malice = await Malice.begin(plane, times, log);
    for (const attack of attacks) {
      log(`${plane.name}: ${attack.name}: ${attack.about}`);
      rows.push(await malice.suffer(attack));
    }
    if (!flags.brief) rows.push(await malice.restart(), await malice.removal());
  } finally {
    await malice?.end();
    await plane.stop();
  }
  return rows;
}

async function days(start: () => Promise<Plane>, attacks: readonly Attack[], times: Times): Promise<Row[]> {
  if (!flags.fresh) return day(start, attacks, times);
  const rows: Row[] = [];
  for (const attack of attacks) {
    const own = await day(start, [attack], times);
    rows.push(...own.map((row) => (row.name === attack.name ? row : { ...row, name: `${attack.name}: ${row.name}` })));
  }
  return rows;
}

async function main(): Promise<number> {
  if (flags.only === 'list') {
    for (const { name, about } of allAttacks) console.log(`${name.padEnd(24)} ${about}`);
    return 0;
  }
  const attacks = chosenAttacks();
  const share = (Number(flags.minutes) * 60 * partOfAttacks) / attacks.length;
  const times: Times = {
    quietSeconds: Number(flags.quiet),
    attackSeconds: Number(flags.seconds ?? Math.min(120, Math.max(10, share))),
    attackers: Number(flags.attackers),
  };
  const nodes = Number(flags.nodes);
  const done = new Map<string, readonly Row[]>();
  const { variant, reference } = flags;
  if (variant === 'serve' || variant === 'dev') {
    done.set(`plinth ${variant}`, await days(() => startPlinth(variant, nodes), attacks, times));
  } else if (variant !== 'none') throw new Error('--variant is serve, dev or none');
  const own = [...done.values()].flat();
  if (reference !== undefined) {
    done.set('reference', await days(() => startReference(reference, nodes), attacks, times));
  }
  console.log(`\n${tableOf(done)}\n`);
  const failed = own.filter(({ faults }) => faults.length > 0);
  console.log(
    failed.length === 0 ? 'tenants: passed' : `tenants: FAILED: ${failed.map(({ name }) => name).join(', ')}`,
  );
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
