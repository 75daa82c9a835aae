import { Attacker, type Target } from './attacker.js';
import { allAttacks, control } from './attacks/index.js';

/*
 * An attacker in a process of its own. Reports when it is ready, attacks until its parent asks it to stop, and then
 * reports how it was answered. The control only computes: it shows the effect of such a process on the machine without an
 * attack.
 */
const [, , targetText = '{}', name = ''] = process.argv;
const attacker = new Attacker(JSON.parse(targetText) as Target);
const attack = allAttacks.find((one) => one.name === name);
let next = 0;

async function client(): Promise<void> {
  while (!attacker.isOver) {
    const n = next++;
    if (attack === undefined || n >= (attack.most ?? Number.POSITIVE_INFINITY)) await attacker.rest(60_000);
    else {
      await attack.act(attacker, n).catch((error: unknown) => {
        attacker.count('failed');
        attacker.samples.failed ??= String(error);
      });
    }
  }
}

/** Computes without a pause, so that others can't use the processor. */
function spin(): void {
  const end = performance.now() + 20;
  while (performance.now() < end);
  if (!attacker.isOver) setImmediate(spin);
}

process.on('message', (message) => {
  if (message === 'go') {
    if (name === control.name) spin();
    for (let i = 0; i < (attack?.parallel ?? 32); i++) void client();
    return;
  }
  const { counts, samples, sentBytes } = attacker;
  attacker.end();
  const leave = () => process.exit();
  process.send?.({ counts, samples, sentBytes, cpu: process.cpuUsage() }, () => {
    if (attack?.undo === undefined) leave();
    else void attack.undo(attacker).then(leave, leave);
  });
});
process.on('disconnect', () => process.exit());
let fault: string | undefined;
try {
  await attack?.prepare?.(attacker);
} catch (error) {
  fault = String(error);
}
process.send?.({ ready: true, fault });
