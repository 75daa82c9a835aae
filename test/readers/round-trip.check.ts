import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { encodeCbor } from '../../src/base/machinery/cbor/index.js';
import { ExactNumber } from '../../src/base/machinery/json/exact-numbers.js';
import { plainJson } from '../../src/base/machinery/json/plain-json.js';
import type { ResourceDefinition } from '../../src/objects/registry/resource-definition.js';
import { encodeObject, ProtobufClient, protobuf } from '../e2e/support/protobuf-client.js';
import { eventually, TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { seedVariable } from '../support/random.js';
import { registeredGroups } from '../support/registered-groups.js';
import { definitions, group } from './definitions.js';
import { hashOf, parse, type ReadObject, readJavascript } from './read-javascript.js';
import { collectionOf, ownName, type Target, targetOf } from './targets.js';
import { unwritten, writtenKinds } from './written-kinds.js';

/*
 * Writes random objects of all kinds, with numbers, text and nesting that some client could refuse, in every format and by
 * every patch. Then clients in Go, Python and JavaScript list everything. Fails when one of them can't read a list, when two
 * read different values, or when the server answers with a 5xx. Needs Go, Python and pip with its index. The same seed
 * sends the same objects: PLINTH_TEST_SEED=... npm run check:round-trip -- --objects 50000
 */

const { values } = parseArgs({ options: { objects: { type: 'string', default: '50000' } } });
const total = Number(values.objects);
const seed = Number(process.env[seedVariable] ?? Math.floor(Math.random() * 2 ** 32));
/** The gates of CBOR, of all kinds that are behind one, and what these need. */
function openGates(): string {
  const gates = kinds.flatMap(({ versions }) => versions.flatMap(({ neededGate }) => neededGate ?? []));
  return [...new Set(['CBORServingAndStorage', 'TopologyAwareWorkloadScheduling', ...gates])]
    .map((gate) => `${gate}=true`)
    .join(',');
}

/** Every version of every kind, also those that are served only when their name is given. */
function servedVersions(): string {
  const grouped = kinds.filter(({ group: name }) => name !== '');
  const names = grouped.flatMap(({ group: name, versions }) => versions.map(({ version }) => `${name}/${version}`));
  return [...new Set(names)].map((name) => `${name}=true`).join();
}

/** Objects between two rounds of readers, which list all of them. */
const perRound = 2_500;
const parallel = 8;
const shownFailures = 30;
const source = fileURLToPath(new URL('../../../test/readers', import.meta.url));

type Json = Record<string, unknown>;

const failures: string[] = [];
const counts = new Map<string, number>();
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

function fail(what: string): void {
  failures.push(what);
  if (failures.length <= shownFailures) console.log(`FAILURE ${what.slice(0, 1500)}`);
}

const { registry } = await registeredGroups();
const kinds = writtenKinds(registry.definitions());
for (const [resource, why] of Object.entries(unwritten)) console.log(`not written: ${resource}: ${why}`);

const output = mkdtempSync(join(tmpdir(), 'plinth-readers-'));
const goReader = join(output, 'readers');
if (spawnSync('go', ['build', '-o', goReader, '.'], { cwd: source, stdio: 'inherit' }).status !== 0) {
  throw new Error('Go could not build the reader; is it installed?');
}
const environment = join(output, 'python');
const python = join(environment, 'bin', 'python');
spawnSync('python3', ['-m', 'venv', environment], { stdio: 'inherit' });
spawnSync(join(environment, 'bin', 'pip'), ['install', '-q', 'kubernetes'], { stdio: 'inherit' });
if (!existsSync(python)) throw new Error('Python could not make an environment');

console.log(`seed ${seed} (repeat with ${seedVariable}=${seed})`);
const cluster = await TestCluster.start({
  servers: 2,
  controllers: true,
  accounts: false,
  flags: [`--feature-gates=${openGates()}`, `--runtime-config=${servedVersions()}`],
  controllerFlags: ['--controllers=customresourcedefinition-status,customresourcedefinition-cleanup'],
});
const { client } = cluster.first;
const bytes = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.admin);

interface Answer {
  readonly status: number;
  readonly text: string;
  /**
   * What was sent instead of numbers beyond all doubles: in CBOR the largest double, which the encoder writes; in YAML
   * text, since readers of YAML treat such numbers as text.
   */
  readonly beyond?: 'clamp' | 'text';
}

const json = 'application/json';

async function send(method: string, path: string, body: Buffer, contentType: string): Promise<Answer> {
  const answer = await bytes.send(method, path, { body, contentType, accept: json });
  return { status: answer.status, text: answer.bytes.toString() };
}

/** Creates the object in its format, or by an apply. */
async function create({ collection, name, object, definition, creation }: Target): Promise<Answer> {
  const text = Buffer.from(JSON.stringify(object));
  switch (creation) {
    case 'yaml': {
      // A comment makes YAML of JSON, which JSON parsers refuse.
      const yaml = Buffer.concat([Buffer.from('# YAML\n'), text]);
      return { ...(await send('POST', collection, yaml, 'application/yaml')), beyond: 'text' };
    }
    case 'cbor':
      return { ...(await send('POST', collection, encodeCbor(object), 'application/cbor')), beyond: 'clamp' };
    case 'protobuf': {
      const message = definition === undefined ? undefined : protobufOf(definition, object);
      // Bodies that protobuf can't express are sent unchanged.
      return message === undefined ? send('POST', collection, text, json) : send('POST', collection, message, protobuf);
    }
    case 'apply': {
      const path = `${collection}/${name}?fieldManager=check&force=true`;
      return send('PATCH', path, text, 'application/apply-patch+yaml');
    }
    case 'json':
      return send('POST', collection, text, json);
  }
}

function protobufOf(definition: ResourceDefinition, object: Json): Buffer | undefined {
  try {
    return Buffer.from(encodeObject(definition.versions[0].type, object));
  } catch {
    return undefined;
  }
}

/** The value with its numbers beyond all doubles as text. */
function withText(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number.isFinite(value.valueOf()) ? value : value.text;
  if (Array.isArray(value)) return value.map(withText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withText(member)]));
}

/** The server's answers about objects when it wrote them. */
let answered: ReadObject[] = [];
/** How many objects of each kind were made. */
const written = new Map<string, number>();
/** The last refusal of each kind. */
const refused = new Map<string, string>();

function note({ collection, object, definition }: Target, { status, text, beyond }: Answer, isNew: boolean): boolean {
  count(`${isNew ? 'create' : 'patch'} ${status}`);
  if (status >= 500) fail(`${collection} answered ${status}: ${text}\n  ${JSON.stringify(object)}`);
  if (status !== 200 && status !== 201) return false;
  try {
    const value = parse(text) as { metadata: { uid: string; resourceVersion: string }; spec?: unknown };
    const { uid, resourceVersion } = value.metadata;
    const [, api = '', version = '', ...rest] = collection.split('/');
    const path = api === 'api' ? ['', version, rest.at(-1)] : [version, rest[0], rest.at(-1)];
    answered.push({
      reader: 'answer',
      resource: path.join('/'),
      state: `${uid}@${resourceVersion}`,
      hash: hashOf(value),
    });
    // A kind that drops nothing has exactly what was sent.
    if (isNew && definition === undefined && collection.endsWith('/free')) {
      const sent = hashOf(
        parse(
          JSON.stringify(
            plainJson(beyond === 'text' ? withText(object.spec) : object.spec, beyond === 'clamp' ? 'clamp' : 'refuse'),
          ),
        ) as object,
      );
      if (hashOf(value.spec as object) !== sent) fail(`${collection} changed ${JSON.stringify(object)} to ${text}`);
    }
  } catch (error) {
    fail(`${collection} answered what can't be read: ${String(error)}: ${text}`);
  }
  return true;
}

async function writeOne(n: number, namespace: string): Promise<void> {
  const target = targetOf(seed, n, kinds, namespace);
  const { collection, name, patch, definition } = target;
  const answer = await create(target);
  const isMade = note(target, answer, true);
  const kind = definition === undefined ? 'custom' : `${definition.resource}.${definition.group}`;
  if (isMade) written.set(kind, (written.get(kind) ?? 0) + 1);
  else refused.set(kind, answer.text);
  if (!isMade || patch === undefined) return;
  const path = `${collection}/${name}${patch.subresource}`;
  note(target, await send('PATCH', path, Buffer.from(patch.body), patch.type), false);
}

function linesOf(name: string, program: string, args: readonly string[]): ReadObject[] {
  const { stdout, stderr, status } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  const lines = stdout.split('\n').filter((line) => line !== '');
  const refused = lines.filter((line) => line.startsWith('FAILED'));
  for (const line of refused) fail(`${name}: ${line}`);
  if (status !== 0 && refused.length === 0) fail(`${name} ended with ${status}: ${stderr.slice(-1000)}`);
  return lines
    .filter((line) => !line.startsWith('FAILED'))
    .map((line) => {
      const [reader = '', resource = '', state = '', hash = ''] = line.split('\t');
      return { reader, resource, state, hash };
    });
}

/** Typed clients write what they know, which has its own zero values: they are compared with each other. */
function compare(objects: readonly ReadObject[]): void {
  const known = new Map<string, ReadObject>();
  for (const object of objects) {
    const family = object.reader.includes('typed') ? 'typed' : 'value';
    const key = `${family} ${object.resource} ${object.state}`;
    const other = known.get(key);
    if (other === undefined) known.set(key, object);
    else {
      count('compared');
      if (other.hash !== object.hash) {
        fail(
          `${key}: ${other.reader} and ${object.reader} read different values${other.text === undefined ? '' : `: ${other.text}`}`,
        );
      }
    }
  }
}

async function readAll(): Promise<void> {
  const own: string[] = [];
  const read = [
    ...answered,
    ...(await readJavascript(client, own)),
    ...linesOf('Go', goReader, [cluster.first.kubeconfig]),
    ...linesOf('Python', python, [join(source, 'reader.py'), cluster.first.kubeconfig]),
  ];
  for (const failure of own) fail(failure);
  compare(read);
  answered = [];
}

/** Deletes what a round wrote, so that the next one lists its own. */
async function clean(namespace: string): Promise<void> {
  for (const definition of kinds) {
    const collection = collectionOf(definition, namespace);
    if (collection.includes('/namespaces/')) {
      await client.send('DELETE', collection, {});
      continue;
    }
    const { status, body, text } = await client.get(collection);
    if (status !== 200) throw new Error(`the list of ${collection} got ${status}: ${text}`);
    for (const { metadata } of body.items ?? []) {
      if (!ownName.test(metadata.name)) continue;
      await client.send('DELETE', `${collection}/${metadata.name}`, {});
      // No control loop ends namespaces here.
      if (definition.resource === 'namespaces') {
        await client.send('PUT', `${collection}/${metadata.name}/finalize`, {
          body: { metadata: { name: metadata.name }, spec: {} },
        });
      }
    }
  }
  for (const { name } of definitions)
    await client.send('DELETE', `/apis/${group}/v1/namespaces/${namespace}/${name}`, {});
}

try {
  for (const { name, body } of definitions) {
    const made = await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body);
    if (made.status !== 201) throw new Error(made.text);
    await eventually(
      async () => (await client.get(`/apis/${group}/v1/${name}`)).status === 200,
      `${name} to be served`,
    );
  }
  for (let done = 0; done < total; ) {
    const until = Math.min(total, done + perRound);
    const namespace = `round-${done}`;
    await client.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const write = async () => {
      while (done < until) await writeOne(done++, namespace);
    };
    await Promise.all(Array.from({ length: parallel }, write));
    await readAll();
    await clean(namespace);
    console.log(`${done} objects`, Object.fromEntries([...counts].sort()), `${failures.length} failures`);
  }
} finally {
  await cluster.stop();
  rmSync(output, { recursive: true, force: true });
}
const missing = kinds.filter(({ resource, group: name }) => !written.has(`${resource}.${name}`));
console.log(`objects were made of ${written.size} kinds`);
// With so few objects, all of them may have been refused.
if (total >= 50 * kinds.length) {
  for (const { resource, group: name } of missing) failures.push(`no object of ${resource}.${name} was accepted`);
}
for (const { resource, group: name } of missing) {
  const kind = `${resource}.${name}`;
  console.log(`no object of ${kind} was accepted: ${refused.get(kind)?.slice(0, 500)}`);
}
if (failures.length > 0) {
  console.log(`${failures.length} failures with ${seedVariable}=${seed}`);
  process.exitCode = 1;
}
