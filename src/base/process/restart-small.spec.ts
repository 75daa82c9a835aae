import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { smallStart } from './restart-small.js';

const present = {
  program: '/node',
  engineFlags: ['--enable-source-maps'],
  command: ['main.js', 'node', '--port=1'],
  variables: { HOME: '/root' },
};

describe('restartSmall', () => {
  it('adds settings to those that the process has, and does so once', () => {
    const start = smallStart(present);
    assert.deepEqual(start, {
      ...present,
      engineFlags: ['--enable-source-maps', '--max-semi-space-size=1'],
      variables: { HOME: '/root', MALLOC_ARENA_MAX: '1', PLINTH_SMALL: '1' },
    });
    assert.equal(smallStart(start), undefined);
  });

  it('leaves settings that somebody has chosen', () => {
    assert.equal(smallStart({ ...present, engineFlags: ['--max-semi-space-size=16'] }), undefined);
    assert.equal(smallStart({ ...present, variables: { NODE_OPTIONS: '--max_semi_space_size=16' } }), undefined);
    const start = smallStart({ ...present, variables: { MALLOC_ARENA_MAX: '4' } });
    assert.equal(start?.variables.MALLOC_ARENA_MAX, '4');
  });

  it('keeps the id and the arguments of the process', () => {
    const file = new URL('./restart-small.js', import.meta.url).href;
    const script = `
      const { restartSmall } = await import(${JSON.stringify(file)});
      process.env.FIRST ??= String(process.pid);
      restartSmall();
      console.log(process.env.FIRST === String(process.pid), process.execArgv.includes('--max-semi-space-size=1'));
      console.log(JSON.stringify(process.argv.slice(-2)));`;
    const { PLINTH_SMALL: _small, FIRST: _first, ...env } = process.env;
    const args = ['--input-type=module', '--eval', script, 'one', 'two words'];
    const lines = execFileSync(process.execPath, args, { env, encoding: 'utf8' }).trim().split('\n');
    assert.deepEqual(lines, ['true true', '["one","two words"]']);
  });
});
