import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { loopLagNames, registerLoopLag } from './loop-lag.js';

/** Seconds by the name of the metric. */
async function scrape(registry: Registry): Promise<ReadonlyMap<string, number>> {
  const families = await registry.getMetricsAsJSON();
  return new Map(families.map(({ name, values }) => [name, values[0]?.value as number]));
}

/** Holds the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('lag of the event loop', () => {
  it('shows how long the loop was held, without the time between two samples', async () => {
    const registry = new Registry();
    registerLoopLag(registry);
    assert.deepEqual([...(await scrape(registry)).keys()], loopLagNames);
    const least = async () => {
      await delay(250);
      return (await scrape(registry)).get('nodejs_eventloop_lag_min_seconds') as number;
    };
    // Each sample would be at least this with the time between two.
    while ((await least()) >= 0.1);
    // The time between a scrape and the next sample belongs to neither scrape.
    await delay(250);
    block(600);
    await delay(150);
    const held = await scrape(registry);
    const max = held.get('nodejs_eventloop_lag_max_seconds') as number;
    assert.ok(max >= 0.45, `${max}`);
    assert.ok((held.get('nodejs_eventloop_lag_p99_seconds') as number) >= 0.45);
    assert.ok((held.get('nodejs_eventloop_lag_mean_seconds') as number) <= max);
  });

  it('shows zeros where nothing was sampled', async () => {
    const registry = new Registry();
    registerLoopLag(registry);
    await scrape(registry);
    const nothing = await scrape(registry);
    for (const name of loopLagNames.slice(1)) assert.equal(nothing.get(name), 0, name);
  });
});
