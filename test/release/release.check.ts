import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { InsecureClient } from './insecure-client.js';
import { readSurfaces, type Surfaces } from './read-surfaces.js';
import { accountKey, Reference } from './reference.js';

/*
 * Says what changes when a release comes: `npm run check:release -- FOLDER [--facts FILE]`. FOLDER has `kube-apiserver`
 * and `etcd` of the release. What its server shows is compared with this program, item by item; with `--facts`, also
 * with what the file says of an older release, and the file is rewritten. Exit code 1 on differences to this program.
 */

const { values, positionals } = parseArgs({ options: { facts: { type: 'string' } }, allowPositionals: true });
const [folder] = positionals;
if (folder === undefined || !existsSync(join(folder, 'kube-apiserver'))) {
  console.error('usage: release.check FOLDER [--facts FILE]; FOLDER has kube-apiserver and etcd');
  process.exit(2);
}

const root = join(import.meta.dirname, '../../..');
const helpOf = (program: string, ...words: string[]) =>
  execFileSync(program, words, { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });

const reference = await Reference.start(folder);
let theirs: Surfaces;
try {
  theirs = await readSurfaces(reference.client, helpOf(join(folder, 'kube-apiserver'), '--help'));
} finally {
  await reference.stop();
}

if (values.facts !== undefined) {
  if (existsSync(values.facts)) {
    console.log('# Changes since the facts');
    report(JSON.parse(readFileSync(values.facts, 'utf8')) as Surfaces, theirs, 'before', 'now');
  }
  writeFileSync(values.facts, `${JSON.stringify(theirs, null, 1)}\n`);
}

const cluster = await TestCluster.start({
  servers: 0,
  accounts: true,
  flags: ['--compat=kubernetes', '--authorization-mode=Node,RBAC', '--service-cluster-ip-range=10.0.0.0/16'],
});
let ours: Surfaces;
try {
  const key = join(cluster.directory, 'accounts.key');
  writeFileSync(key, accountKey(), { mode: 0o600 });
  await cluster.addServer(undefined, [
    `--service-account-signing-key-file=${key}`,
    '--service-account-issuer=https://kubernetes.default.svc',
  ]);
  const client = new InsecureClient(cluster.first.url, tokens.admin);
  ours = await readSurfaces(client, helpOf(process.execPath, join(root, 'bin/plinth.js'), 'serve', '--help'));
} finally {
  await cluster.stop();
}
console.log('# Differences of this program');
process.exitCode = report(ours, theirs, 'here', 'release') === 0 ? 0 : 1;

/** Prints a line for each item that differs and a count for each surface; returns the number of lines. */
function report(one: Surfaces, other: Surfaces, nameOfOne: string, nameOfOther: string): number {
  let count = 0;
  for (const [surface, items] of Object.entries(other)) {
    const known = one[surface] ?? {};
    const names = [...new Set([...Object.keys(known), ...Object.keys(items)])].sort();
    let equal = 0;
    for (const name of names) {
      const [a, b] = [known[name], items[name]];
      if (a === b) {
        equal++;
        continue;
      }
      count++;
      const text =
        a === undefined
          ? `only ${nameOfOther}`
          : b === undefined
            ? `only ${nameOfOne}`
            : `${nameOfOne} ${a} | ${nameOfOther} ${b}`;
      console.log(`${surface} ${name}: ${text}`);
    }
    console.log(`## ${surface}: ${equal} of ${Object.keys(items).length} equal`);
  }
  return count;
}
