import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RefusalPace } from './refusal-pace.js';

const never = new AbortController().signal;

function paced() {
  let now = 0;
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(Math.round(ms));
  };
  return {
    pace: new RefusalPace({ elapsed: () => now, wait }),
    waits,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

it('refusals of long heads come ever later, and at once again after a rest', async () => {
  const { pace, waits, pass } = paced();
  for (let i = 0; i < 20; i++) await pace.turn('mallory', 490, never);
  // Ten heads are free, and each further one pays for those before it.
  assert.deepEqual(waits, [50, 100, 150, 200, 250, 300, 350, 400, 450]);
  waits.length = 0;
  pass(1_000);
  for (let i = 0; i < 5; i++) await pace.turn('mallory', 490, never);
  assert.deepEqual(waits, []);
});

it('the accounts of a namespace have one pace, and others have their own', async () => {
  const { pace, waits } = paced();
  for (let i = 0; i < 12; i++) await pace.turn(`system:serviceaccount:bad:a-${i}`, 490, never);
  assert.equal(waits.length, 1);
  await pace.turn('system:serviceaccount:good:a', 490, never);
  await pace.turn('alice', 490, never);
  assert.equal(waits.length, 1);
});

it('a refusal is never delayed for long, and a thousand refusals of short heads not at all', async () => {
  const { pace, waits, pass } = paced();
  for (let i = 0; i < 1_000; i++) {
    await pace.turn('alice', 10, never);
    pass(10);
  }
  assert.deepEqual(waits, []);
  for (let i = 0; i < 300; i++) await pace.turn('mallory', 490, never);
  assert.equal(Math.max(...waits), 5_000);
});

it('tenants are forgotten when they have not been refused for a while', async () => {
  const { pace, pass } = paced();
  for (let i = 0; i < 1_000; i++) await pace.turn(`user-${i}`, 10, never);
  pass(1_000);
  await pace.turn('one more', 10, never);
  assert.equal(pace.size, 1);
});
