import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ProbeName, probeNames } from './honest-probes.js';
import { type StepName, stepNames } from './honest-work.js';
import { complaints, delays, failures, quantile, slowestStep, type Welfare } from './verdict.js';

const latency = (p99: number, faults: readonly string[] = [], count = 100) => ({ p50: 5, p99, count, faults });
const welfare = (
  probes: Partial<Record<ProbeName, ReturnType<typeof latency>>> = {},
  steps: Partial<Record<StepName, number>> = {},
  faults: readonly string[] = [],
): Welfare => ({
  probes: new Map(probeNames.map((name) => [name, probes[name] ?? latency(20)])),
  steps: new Map(stepNames.map((name) => [name, { ms: steps[name] ?? 1000, faults }])),
});

it('finds nothing to complain of below three times the latency and five times the wait', () => {
  const now = welfare({ get: latency(59), list: latency(5000) }, { deployed: 4900 });
  assert.deepEqual(complaints(welfare(), now), []);
});

it('complains of late and failed requests, of late loops and of what never came', () => {
  const now = welfare(
    { get: latency(61), livez: latency(Number.NaN, [], 0), create: latency(20, ['429', '429']) },
    { deployed: 5100, signed: Number.NaN },
  );
  const found = complaints(welfare(), now).join('\n');
  assert.match(found, /^get p99 61 ms, limit 60$/m);
  assert.match(found, /^no livez came to an end$/m);
  assert.match(found, /^2 of 100 create failed \(429\)$/m);
  assert.match(found, /^deployed after 5\.1 s, limit 5\.0$/m);
  assert.match(found, /^never signed$/m);
});

it('takes very quick quiet times for slower ones, as they double by chance', () => {
  const quiet = welfare({ get: latency(2) }, { deployed: 50 });
  assert.deepEqual(complaints(quiet, welfare({ get: latency(47) }, { deployed: 2400 })), []);
  assert.equal(complaints(quiet, welfare({ get: latency(49) }, { deployed: 2600 })).length, 2);
});

it('lets an attack repeat what was late, but not what failed', () => {
  const late = welfare({ get: latency(61) }, { deployed: 5100 });
  assert.equal(delays(welfare(), late).length, 2);
  assert.deepEqual(failures(late), []);
  const failed = welfare({ list: latency(20, ['ECONNRESET']) }, { deployed: Number.NaN }, ['not in time']);
  assert.deepEqual(delays(welfare(), failed), []);
  assert.equal(failures(failed).length, 2 + stepNames.length);
});

it('lets the same part of few and of many values be greater', () => {
  const counted = [100, 200, 2000].map((count) => {
    const values = Array.from({ length: count }, (_, i) => i);
    return values.filter((value) => value > quantile(values, 0.99)).length;
  });
  assert.deepEqual(counted, [1, 2, 20]);
  assert.equal(quantile([7], 0.99), 7);
  assert.ok(Number.isNaN(quantile([], 0.99)));
});

it('names the step that is furthest behind', () => {
  assert.equal(slowestStep(welfare(), welfare({}, { signed: 4000, cascade: 3000 })), 'signed 4.0 s (x4.0)');
  assert.equal(quantile([1, 2, 3, 4], 0.99), 4);
});
