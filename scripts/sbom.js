// Writes dist/sbom.cdx.json (CycloneDX) for the packages whose code is in the bundle: the output of npm sbom, without
// the tools for building and testing. Runs after pack-files.js.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const provenanceFile = join(root, 'dist', 'provenance.json');
const provenance = JSON.parse(readFileSync(provenanceFile, 'utf8'));
const { packages } = provenance;
const { status, stdout, stderr } = spawnSync(
  'npm',
  ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'],
  { cwd: root, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 },
);
if (status !== 0) throw new Error(`npm sbom: ${stderr}`);
const sbom = JSON.parse(stdout);
const idOf = ({ name, version }) => `${name}@${version}`;
const shipped = new Set(packages.map(idOf));
const nameOf = ({ group, name }) => (group === undefined || name.startsWith('@') ? name : `${group}/${name}`);
const components = sbom.components.filter((one) => shipped.has(idOf({ name: nameOf(one), version: one.version })));
const listed = new Set(components.map((one) => idOf({ name: nameOf(one), version: one.version })));
const missing = [...shipped].filter((id) => !listed.has(id));
if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`);
const references = new Set([sbom.metadata.component['bom-ref'], ...components.map((one) => one['bom-ref'])]);
const dependencies = sbom.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) }));
// All of these packages are in the product, although npm lists them as development dependencies.
for (const { properties } of components) {
  const index = properties?.findIndex(({ name }) => name === 'cdx:npm:package:development') ?? -1;
  if (index >= 0) properties.splice(index, 1);
}
const text = `${JSON.stringify({ ...sbom, components, dependencies }, undefined, 1)}\n`;
const path = 'dist/sbom.cdx.json';
writeFileSync(join(root, path), text);
provenance.files.push({ path, sha256: createHash('sha256').update(text).digest('hex'), origin: 'npm sbom' });
writeFileSync(provenanceFile, `${JSON.stringify(provenance, undefined, 1)}\n`);
console.error(`${components.length} packages in the bill of materials`);
