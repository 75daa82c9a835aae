import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatEnvironment, parseEnvironment } from './environment-file.js';

const url = 'postgresql://a:p%27#"$x\\n@h:5432/d?host=%2Ftmp';

describe('a file of variables', () => {
  it('is read back, and by Node, without a change', () => {
    const text = formatEnvironment({ PLINTH_DATABASE_URL: url });
    assert.deepEqual(parseEnvironment(text), { PLINTH_DATABASE_URL: url });
    const folder = mkdtempSync(join(tmpdir(), 'plinth-variables-'));
    try {
      writeFileSync(join(folder, 'x.env'), text);
      const show = 'process.stdout.write(process.env.PLINTH_DATABASE_URL)';
      const args = [`--env-file=${join(folder, 'x.env')}`, '-e', show];
      assert.equal(execFileSync(process.execPath, args, { env: {} }).toString(), url);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has no value that would end its line or its quotes', () => {
    for (const value of ["a'b", 'a\nb'])
      assert.throws(() => formatEnvironment({ X: value }), /^OptionsError: X must have/);
  });
});
