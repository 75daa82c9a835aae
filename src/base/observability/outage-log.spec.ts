import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OutageLog } from './outage-log.js';

it('an outage is logged when it begins and when it ends', () => {
  const lines: unknown[] = [];
  const logger = {
    error: (text: string, fields?: object) => lines.push(['error', text, fields]),
    info: (text: string, fields?: object) => lines.push(['info', text, fields]),
  };
  const log = new OutageLog(logger, { failed: 'away', recovered: 'back' });
  log.worked();
  assert.deepEqual(lines, []);
  log.failed({ problem: 'first' });
  log.failed({ problem: 'second' });
  assert.deepEqual(lines.splice(0), [['error', 'away', { problem: 'first' }]]);
  log.worked();
  log.worked();
  assert.deepEqual(lines.splice(0), [['info', 'back', { failures: 2 }]]);
  log.failed({ problem: 'third' });
  assert.deepEqual(lines, [['error', 'away', { problem: 'third' }]]);
});
