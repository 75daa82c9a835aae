import { parseArgs } from 'node:util';
import { instanceCases } from './hostile/instance-cases.js';
import { lifeCases } from './hostile/life-cases.js';
import { nameCases } from './hostile/name-cases.js';
import { ruleCases } from './hostile/rule-cases.js';
import { HostileScene } from './hostile/scene.js';
import { schemaCases } from './hostile/schema-cases.js';

/*
 * Sends hostile definitions and objects of custom kinds to two servers with control loops, one after the other, while a
 * client of each requests /livez every 10 ms. Each gets a clear error or works: no answer with 5xx, no end of a
 * process, and no more than 100 ms of processor time between two turns of the event loop.
 *   --only a,b,c      cases whose name contains one of the texts
 */

const { values: flags } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const mostHeldMs = 100;

const texts = flags.only.split(',');
const all = [...schemaCases, ...ruleCases, ...nameCases, ...instanceCases, ...lifeCases];
const chosen = all.filter(({ name }) => texts.some((text) => name.includes(text)));
const scene = await HostileScene.start();
let faults = 0;
try {
  await scene.held();
  for (const { name, run } of chosen) {
    const begun = performance.now();
    let fault: string | undefined;
    const shown = await run(scene).catch((error: unknown) => {
      fault = error instanceof Error ? error.message : String(error);
      return undefined;
    });
    const ms = performance.now() - begun;
    const held = await scene.held();
    const cpuMs = Math.max(...held.map((each) => each.cpuMs));
    const livezMs = Math.max(...held.map((each) => each.livezMs));
    const isSlow = cpuMs > mostHeldMs;
    const times = `${ms.toFixed(0)} ms, held ${cpuMs.toFixed(0)} ms, livez ${livezMs.toFixed(0)} ms`;
    console.log(`${name.padEnd(44)} ${times}${isSlow ? '  TOO LONG' : ''}: ${(shown ?? '').slice(0, 400)}`);
    if (fault !== undefined) console.log(`FAULT ${name}: ${fault}`);
    if (fault !== undefined || isSlow) faults++;
  }
  console.log(`${chosen.length} hostile cases, ${faults} faults`);
  process.exitCode = chosen.length === 0 || faults > 0 ? 1 : 0;
} finally {
  await scene.stop();
}
