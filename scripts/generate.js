// Makes the files of a new kind and registers it.
//
//   npm run generate -- kind <group> <Kind> [--version v1] [--plural names] [--cluster-scoped]
//
// nest-cli.json sets the folders, and whether a test is made. Existing files are never overwritten.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fieldNumbers, groupFile, resourceFile, specFile, strategyFile, typesFile } from './generate/kind-templates.js';
import { camel, kebab, pascal, pluralOf } from './generate/names.js';
import { nestConfig } from './nest-config.js';

const usage = 'usage: npm run generate -- kind <group> <Kind> [--version v1] [--plural names] [--cluster-scoped]';

/** Groups that are served under a longer name, without the vendor's suffix (`src/base/machinery/vendor.ts`). */
const longGroups = { rbac: 'rbac.authorization', flowcontrol: 'flowcontrol.apiserver' };

/** An error in the command line or the project, reported in one line. */
class GenerateError extends Error {}

function parse(argv) {
  let parsed;
  try {
    parsed = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        version: { type: 'string', default: 'v1' },
        plural: { type: 'string' },
        'cluster-scoped': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new GenerateError(`${error.message}\n${usage}`);
  }
  const { positionals, values } = parsed;
  const [what, group = '', kind = ''] = positionals;
  if (what !== 'kind' || positionals.length !== 3) throw new GenerateError(usage);
  if (!/^[a-z][a-z0-9]*$/.test(group))
    throw new GenerateError('a group is a short name in small letters, without the suffix');
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind)) throw new GenerateError('a kind begins with a capital letter');
  if (!/^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.test(values.version))
    throw new GenerateError('a version is v1, v1beta1 or the like');
  const singular = kind.toLowerCase();
  const plural = values.plural ?? pluralOf(singular);
  return { group, kind, version: values.version, singular, plural, namespaced: !values['cluster-scoped'] };
}

/** Puts an entry before the end of the list that begins with `start`. */
function addToList(text, start, end, entry, file) {
  const from = text.search(start);
  const to = from < 0 ? -1 : text.indexOf(end, from);
  if (to < 0) throw new GenerateError(`${file} has another form than expected: add ${entry} by hand`);
  const list = text.slice(from, to).trimEnd();
  const separator = list.endsWith(',') || list.endsWith('[') ? '' : ',';
  return `${text.slice(0, from)}${list}${separator} ${entry},${text.slice(to)}`;
}

function addImport(text, line) {
  const last = text.lastIndexOf('\nimport ');
  const end = text.indexOf(';\n', last) + 2;
  return `${text.slice(0, end)}${line}\n${text.slice(end)}`;
}

/** The contents of all files to write, by path. */
function plan(root, request) {
  const { sourceRoot, spec } = nestConfig(root);
  const { group, kind, version } = request;
  const file = kebab(kind);
  const modules = join(root, sourceRoot, 'modules');
  const folder = join(modules, group, file);
  const created = new Map([
    [join(root, sourceRoot, 'objects', 'apis', group, version, `${file}.types.ts`), typesFile(request)],
    [join(folder, `${file}.strategy.ts`), strategyFile(request)],
    [join(folder, `${file}.resource.ts`), resourceFile(request)],
  ]);
  if (spec) created.set(join(folder, `${file}.spec.ts`), specFile(request));
  const changed = new Map();
  const groupPath = join(modules, group, `${group}-api.module.ts`);
  if (existsSync(groupPath)) changed.set(groupPath, withKind(readFileSync(groupPath, 'utf8'), request, groupPath));
  else {
    const className = `${pascal(group)}ApiModule`;
    created.set(groupPath, groupFile({ ...request, className, resourcesName: `${group}Resources` }));
    const listPath = join(modules, 'api-group-modules.ts');
    const list = addImport(
      readFileSync(listPath, 'utf8'),
      `import { ${className} } from './${group}/${group}-api.module.js';`,
    );
    changed.set(listPath, addToList(list, /const groups: /, '\n];', className, listPath));
  }
  for (const path of created.keys()) {
    if (!existsSync(path)) continue;
    const advice = 'docs/adding-a-kind.md says how to add a version to a kind';
    throw new GenerateError(`${relative(root, path)} exists already; ${advice}`);
  }
  for (const [path, change] of [
    [join(root, 'test', 'facts', 'own-field-numbers.json'), withFieldNumbers],
    [join(root, 'test', 'support', 'valid-objects.ts'), withValidObject],
  ]) {
    changed.set(path, change(readFileSync(path, 'utf8'), request, path));
  }
  return { created, changed };
}

function withKind(text, { group, kind }, path) {
  const name = camel(kind);
  const call = group === 'core' ? `${name}Resource()` : `${name}Resource(names)`;
  const imported = addImport(text, `import { ${name}Resource } from './${kebab(kind)}/${kebab(kind)}.resource.js';`);
  return addToList(imported, /return \[/, '];', call, path);
}

/** Adds the protobuf numbers of the kind's fields to those that tests keep from changing. */
function withFieldNumbers(text, { group, version, kind }) {
  const facts = JSON.parse(text);
  const name = `${group}.${version}`;
  facts[name] = { ...facts[name], ...fieldNumbers(kind) };
  return JSON.stringify(facts, null, 2);
}

/** Adds a minimal valid object, for the tests that create one of every kind. */
function withValidObject(text, { group, plural }, path) {
  const name = group === 'core' ? plural : `'${plural}.${longGroups[group] ?? group}'`;
  return addToList(text, /const bodies: /, '\n};', `${name}: {}`, path);
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { created, changed } = plan(root, parse(process.argv.slice(2)));
  for (const [path, text] of [...created, ...changed]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const paths = [...created.keys(), ...changed.keys()];
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const { status, stderr } = spawnSync(process.execPath, [biome, 'check', '--write', ...paths], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const path of created.keys()) console.log(`made     ${relative(root, path)}`);
  for (const path of changed.keys()) console.log(`changed  ${relative(root, path)}`);
  if (status !== 0) throw new GenerateError(`the files could not be brought into form:\n${stderr}`);
  console.log('next     docs/adding-a-kind.md has the checklist: continue with step 2');
}

try {
  main();
} catch (error) {
  if (!(error instanceof GenerateError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
