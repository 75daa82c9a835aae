// Adds the flags that the compiled program has to test/facts/released-flags.json, under the release of package.json.
// From then on, a test fails if one of them is removed without having been deprecated long enough.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { assetPrograms, commands } = await import('../dist/src/tools/cli/all-commands.js');
const { flagsOf } = await import('../dist/src/base/config/flag.js');

const ledger = at('test/facts/released-flags.json');
const { released, removed } = JSON.parse(readFileSync(ledger, 'utf8'));
const release = /^\d+\.\d+/.exec(JSON.parse(readFileSync(at('package.json'), 'utf8')).version)[0];
const spellings = ({ name, aliases = [] }) => [name, ...aliases];
released[release] = Object.fromEntries(
  [...commands, ...assetPrograms].map(({ name, groups }) => [
    name,
    Object.values(groups).flatMap(flagsOf).flatMap(spellings).toSorted(),
  ]),
);
writeFileSync(ledger, `${JSON.stringify({ released, removed }, undefined, 2)}\n`);
process.exit();
