// Writes the files that a package needs besides the program (npm runs this script before npm pack): the licences of all
// bundled packages in one file, and the origin of each file of the package.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const licencesFile = join(dist, 'THIRD-PARTY-LICENSES.txt');
const provenanceFile = join(dist, 'provenance.json');
const licenceName = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Folders, relative to the root, of the packages whose code is in a bundle. */
function bundledPackages() {
  const folders = readJson(join(dist, 'bundled.json')).flatMap((path) => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    return folder === undefined ? [] : [folder];
  });
  return [...new Set(folders)].sort();
}

/** @throws {Error} for a package without a licence: it must not be shipped */
function describe(folder, locked) {
  const { name, version, license } = readJson(join(root, folder, 'package.json'));
  if (typeof license !== 'string') throw new Error(`${folder} names no licence`);
  const texts = readdirSync(join(root, folder))
    .filter((file) => licenceName.test(file) && statSync(join(root, folder, file)).isFile())
    .map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
  const { resolved, integrity } = locked[folder] ?? {};
  return { name, version, license, resolved, integrity, texts };
}

function licenceText({ name, version, license, texts }) {
  const rule = '-'.repeat(80);
  const own = texts.length > 0 ? texts.join('\n\n') : 'The package has no file with the text of its licence.';
  return `${rule}\n${name} ${version}: ${license}\n\n${own}\n`;
}

function commit() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const { status, stdout } = git('rev-parse', 'HEAD');
  if (status !== 0) return {};
  return { commit: stdout.trim(), hasLocalChanges: git('status', '--porcelain').stdout !== '' };
}

function origin(path) {
  if (path.startsWith('dist/program/')) return 'bundle of src/ and packages';
  if (path.startsWith('dist/testing/')) return 'bundle of src/tools/test-clusters/library/';
  if (path.startsWith('dist/console/')) return 'bundle of src/tools/console/ui/ and packages';
  if (path.startsWith('dist/man/')) return 'made from the flags that src/ declares';
  return path.startsWith('dist/') ? 'collected from packages' : 'source';
}

function checksums(patterns) {
  const files = globSync(patterns, { cwd: root }).flatMap((path) =>
    statSync(join(root, path)).isDirectory()
      ? readdirSync(join(root, path), { recursive: true }).map((name) => join(path, name))
      : [path],
  );
  return files
    .filter((path) => statSync(join(root, path)).isFile())
    .sort()
    .map((path) => ({
      path,
      sha256: createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex'),
      origin: origin(path),
    }));
}

// An old list must not contain itself; sbom.js adds its own file.
for (const old of [provenanceFile, join(dist, 'sbom.cdx.json')]) rmSync(old, { force: true });
const manifest = readJson(join(root, 'package.json'));
const locked = readJson(join(root, 'package-lock.json')).packages;
const packages = bundledPackages().map((folder) => describe(folder, locked));
writeFileSync(
  licencesFile,
  ['Packages whose code is part of this program, each with its licence.', ...packages.map(licenceText)].join('\n'),
);
const provenance = {
  name: manifest.name,
  version: manifest.version,
  ...commit(),
  builtWith: { node: process.version, npm: process.env.npm_config_user_agent?.split(' ')[0] },
  packages: packages.map(({ texts: _texts, ...description }) => description),
  files: checksums([...manifest.files, 'README.md', 'LICENSE']),
};
writeFileSync(provenanceFile, `${JSON.stringify(provenance, undefined, 1)}\n`);
console.error(`${packages.length} bundled packages, ${provenance.files.length} files`);
