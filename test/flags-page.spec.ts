import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { flagsOf } from '../src/base/config/flag.js';
import { commands } from '../src/tools/cli/all-commands.js';
import { flagsPage } from './support/flags-page.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/flags.md'), 'utf8');

it('the page of flags is that of the code', () => {
  assert.equal(page, flagsPage(), 'run npm run docs:flags');
});

it('the page has every flag of every command', () => {
  const missing = commands.flatMap(({ name, groups }) =>
    Object.values(groups)
      .flatMap(flagsOf)
      .filter((flag) => !new RegExp(`^\\| \`--${flag.name}[ \`]`, 'm').test(page))
      .map((flag) => `${name} --${flag.name}`),
  );
  assert.deepEqual(missing, []);
});
