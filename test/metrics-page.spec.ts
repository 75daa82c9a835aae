import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { allMetrics, metricsPage } from './support/metrics-page.js';

it('the page of metrics is that of the code', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  assert.equal(page, metricsPage(), 'run npm run docs:metrics');
});

it('every metric has a name, a kind and a meaning of its own', () => {
  const { all, slis } = allMetrics();
  for (const { name, help } of [...all, ...slis]) {
    assert.match(name, /^[a-z][a-z0-9_]+$/);
    assert.ok(help.length > 5, name);
  }
});
