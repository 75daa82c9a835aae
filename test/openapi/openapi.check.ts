import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { subresourcesOf } from '../../src/objects/registry/resource-definition.js';
import type { SubresourceDefinition } from '../../src/objects/registry/subresource-definition.js';
import { TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { Random, seedVariable } from '../support/random.js';
import { registeredGroups } from '../support/registered-groups.js';
import { type Answer, DocumentClient, type Sent } from './document-client.js';
import type { Json } from './document-schemas.js';
import { effects, settled } from './effects.js';
import { breakBody, fittingValue } from './fitting-values.js';
import { answerFaults, type Documents, type Method, methods, type Operation, readDocuments } from './operations.js';
import { type Collection, creations, namespace, readCollections } from './samples.js';

const fittingBodies = 12;
const brokenBodies = 25;
const parallel = 6;
/** One seed, so that a run can be repeated; set the variable for others. */
const seed = Number(process.env[seedVariable] ?? 1);

let cluster: TestCluster;
let client: DocumentClient;
let documents: Documents;
let collections: readonly Collection[];
const byPlace = new Map<string, Operation>();

before(async () => {
  console.log(`openapi: seed ${seed} (another with ${seedVariable})`);
  cluster = await TestCluster.start({ servers: 0 });
  const keyFile = join(cluster.directory, 'accounts.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(keyFile, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  // The check has quotas of its own, which must not change by other writes.
  const disabled = '--disable-admission-plugins=ResourceQuota';
  const { registry } = await registeredGroups();
  const versions = registry
    .definitions()
    .flatMap((definition) => definition.versions.map(({ version }) => groupVersionKey(definition.group, version)));
  await cluster.addServer(undefined, [
    `--service-account-signing-key-file=${keyFile}`,
    disabled,
    '--feature-gates=AllAlpha=true,AllBeta=true',
    `--runtime-config=${[...new Set(versions)].join(',')}`,
  ]);
  client = await DocumentClient.open(cluster.first.url, cluster.pki.authority, tokens.admin);
  documents = await readDocuments(client);
  for (const operation of documents.operations) byPlace.set(`${operation.method} ${operation.path}`, operation);
  collections = await readCollections(client, registry.definitions());
});

after(() => cluster.stop());

/** The key that switches a version on, whatever its default. */
function groupVersionKey(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The same choices for the same place, whatever the order of the places. */
function randomFor(place: string): Random {
  let hash = seed;
  for (const letter of place) hash = Math.imul(hash, 31) + letter.charCodeAt(0);
  return new Random(hash);
}

/** Checks things one after the other over a few connections; reports every fault once, with a count. */
async function faultsOf<T>(
  chosen: Iterable<T>,
  check: (item: T, report: (where: string, faults: readonly string[]) => void) => Promise<void>,
): Promise<string[]> {
  const counts = new Map<string, number>();
  const report = (where: string, faults: readonly string[]) => {
    for (const fault of faults) {
      const text = `${where}: ${fault}`;
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  };
  const next = chosen[Symbol.iterator]();
  const worker = async () => {
    for (let item = next.next(); item.done !== true; item = next.next()) await check(item.value, report);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return [...counts].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`));
}

function assertNone(faults: readonly string[]): void {
  assert.ok(faults.length === 0, `${faults.length} faults:\n${faults.slice(0, 50).join('\n')}`);
}

/** Whether a path is one of the old ones that have the verb in them, whose answers last. */
function isWatchPath(path: string): boolean {
  return /^\/apis?\/.*\/watch\//.test(path);
}

/** The path of an operation below an existing namespace and object. */
function urlOf(path: string, name: string): string {
  return path.replace('{namespace}', namespace).replace('{name}', name);
}

/** Compares the answer to a request of this operation with the documents. */
async function ask(operation: Operation, url: string, sent: Sent = {}): Promise<{ answer: Answer; faults: string[] }> {
  const answer = await client.send(operation.method.toUpperCase(), url, sent);
  return { answer, faults: answerFaults(operation, answer, documents.swagger) };
}

const forms = ['application/json', 'application/yaml', 'application/cbor', 'application/vnd.kubernetes.protobuf'];
/** Those of an error in place of a log, which itself is plain text. */
const logForms = forms.filter((form) => form !== 'application/cbor');
/** Those of watches: a stream of YAML documents has no described form. */
const watchForms = forms.filter((form) => form !== 'application/yaml');
/** Operations that can express what no schema allows. */
const anyForms = forms.slice(0, 3);

describe('the OpenAPI documents', () => {
  it('describe the same operations in both versions', () => {
    assert.deepEqual(documents.differences, []);
    assert.ok(documents.operations.length > 600, String(documents.operations.length));
  });

  it('describe every resource that can be created', () => {
    assert.ok(collections.length > 60, String(collections.length));
    for (const { template } of collections) assert.ok(byPlace.has(`post ${template}`), template);
  });
});

describe('answers to valid requests', () => {
  it('are as described for everything that happens to an object, in every form', async () => {
    let made = 0;
    const faults = await faultsOf(collections, async (collection, report) => {
      for (const form of forms) {
        if (await liveThrough(collection, form, report)) made++;
      }
    });
    assertNone(faults);
    assert.equal(made, collections.length * forms.length);
  });

  it('are as described for every other read', async () => {
    const reads = documents.operations.filter(({ method, path }) => method === 'get' && !path.includes('{name}'));
    const faults = await faultsOf(reads, async (operation, report) => {
      const { path } = operation;
      const isOnlyJson = path === '/version/';
      // The release describes the pages about tokens as texts; their forms are tried in the e2e tests.
      if (/^\/(?:openid|\.well-known)\//.test(path)) return;
      // A watch lasts until it is told to end: each is opened in one form, for a second.
      const isWatch = isWatchPath(path);
      const url = urlOf(path, '') + (isWatch ? '?timeoutSeconds=1' : '');
      const random = randomFor(path);
      for (const accept of isOnlyJson ? ['application/json'] : isWatch ? [random.pick(watchForms)] : forms) {
        const { answer, faults: found } = await ask(operation, url, { accept });
        if (answer.status !== 200) found.push(`${accept}: ${answer.status}`);
        report(`get ${path}`, found);
      }
    });
    assertNone(faults);
  });

  it('are as described, and blame no type, for whatever the schemas allow', async () => {
    let taken = 0;
    const faults = await faultsOf(collections, async ({ template, path, make, nextName }, report) => {
      const create = byPlace.get(`post ${template}`) as Operation;
      const { schemas } = create.document;
      const random = randomFor(template);
      const schema = Object.values<Json>(create.v3.requestBody.content)[0].schema;
      for (let i = 0; i < fittingBodies; i++) {
        const { apiVersion, kind, metadata, ...valid } = make(nextName());
        const fitting = fittingValue(schemas, schema, random);
        // Half of them keep the parts that make an object valid.
        const content = i % 2 === 0 ? fitting : { ...fitting, ...valid };
        const body = { ...content, apiVersion, kind, metadata: { ...metadata, labels: { a: 'b' } } };
        const contentType = random.pick(anyForms);
        const query = `?dryRun=All&fieldValidation=Strict`;
        const { answer, faults: found } = await ask(create, path + query, {
          accept: random.pick(forms),
          contentType,
          body,
        });
        if (answer.status < 300) taken++;
        else if (answer.status === 400 && !isAboutMeaning(answer.value.message)) {
          found.push(`refuses ${answer.value.message}: ${JSON.stringify(body)}`);
        }
        report(`post ${template}`, found);
      }
    });
    assertNone(faults);
    assert.ok(taken > collections.length, `only ${taken} were taken`);
  });
});

/** Whether a 400 reports missing values, as reviews do, and not a wrong form. */
function isAboutMeaning(message: string): boolean {
  return /^(token is required|no namespace on request|spec\.resourceAttributes\.namespace must match)/.test(message);
}

/** Whether its answers come from nodes and pods, of which there are none here. */
function leadsAway({ type }: SubresourceDefinition): boolean {
  return type === 'connect' || type === 'stream';
}

/** Creates an object, reads it, changes and deletes it, with its subresources. */
async function liveThrough(
  collection: Collection,
  form: string,
  report: (where: string, faults: readonly string[]) => void,
): Promise<boolean> {
  const { template, path, definition, make, nextName, isStored } = collection;
  const name = nextName();
  const url = `${path}/${encodeURIComponent(name)}`;
  const sent = { accept: form, contentType: form };
  /** Sends a request of an operation, if it exists, which must succeed. */
  const check = async (method: Method, place: string, target: string, request: Sent = {}) => {
    const operation = byPlace.get(`${method} ${place}`);
    if (operation === undefined) return undefined;
    const { answer, faults } = await ask(operation, target, { ...sent, ...request });
    if (answer.status >= 400) faults.push(`${form}: ${answer.status} ${answer.text.slice(0, 300)}`);
    report(`${method} ${place}`, faults);
    return answer;
  };
  if (definition.resource === 'bindings') await client.send('POST', podsPath, { body: podNamed(name) });
  await check('post', template, `${path}?dryRun=All`, { body: make(name) });
  const made = await check('post', template, path, { body: make(name) });
  if (made?.status !== 201 || !isStored) return made?.status === 201;
  await settled(client, collection, url);
  const object = `${template}/{name}`;
  await check('get', object, url);
  const patch = { metadata: { labels: { checked: 'yes' } } };
  const below = subresourcesOf(definition).filter((subresource) => !leadsAway(subresource));
  const paths = ['', ...below.map((subresource) => `/${subresource.name}`)];
  for (const end of paths) {
    const place = object + end;
    const target = url + end;
    const live = await check('get', place, target, { accept: 'application/json' });
    if (end !== '') await check('get', place, target);
    const body = live?.value ?? (await client.send('GET', url)).value;
    if (end !== '/finalize') await check('put', place, target, { body });
    const { consumes = [] } = byPlace.get(`patch ${place}`)?.v2 ?? {};
    for (const contentType of consumes)
      await check('patch', place, patchUrl(target, contentType), patchOf(contentType, body));
    const creation = creations[end.slice(1)];
    if (creation !== undefined) await check('post', place, `${target}?dryRun=All`, { body: creation(name) });
  }
  function patchOf(contentType: string, { apiVersion, kind }: Json): Sent {
    if (contentType.includes('json-patch'))
      return { contentType, body: [{ op: 'test', path: '/metadata/name', value: name }] };
    if (!contentType.includes('apply')) return { contentType, body: patch };
    return { contentType, body: { apiVersion, kind, ...patch } };
  }
  await check('delete', object, `${url}?dryRun=All`);
  await check('delete', object, `${url}?gracePeriodSeconds=0`, { contentType: 'application/json' });
  await check('delete', template, `${path}?dryRun=All&labelSelector=none`);
  return true;
}

const podsPath = `/api/v1/namespaces/${namespace}/pods`;

function podNamed(name: string): Json {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } };
}

function patchUrl(url: string, contentType: string): string {
  return contentType.includes('apply') ? `${url}?fieldManager=check&force=true` : url;
}

/** Why an effect did not happen. */
async function missesOf(effect: Promise<void> | undefined): Promise<string[]> {
  if (effect === undefined) return ['nobody knows what it does'];
  return effect.then(
    () => [],
    (error: Error) => [error.message],
  );
}

describe('parameters', () => {
  it('have their described effect everywhere', async () => {
    const seen = new Set<string>();
    const faults = await faultsOf(collections, async (collection, report) => {
      const { template, path } = collection;
      const everywhere = template.replace('/namespaces/{namespace}', '');
      for (const place of new Set([template, everywhere, `${template}/{name}`])) {
        const list = place === everywhere ? everywhere : path;
        const target = { client, collection, list, isObject: place.endsWith('{name}') };
        for (const method of methods) {
          for (const { name, in: where } of byPlace.get(`${method} ${place}`)?.parameters ?? []) {
            if (where === 'path') continue;
            seen.add(`${method} ${name}`);
            report(`${method} ${place}?${name}`, await missesOf(effects[`${method} ${name}`]?.(target)));
          }
        }
      }
    });
    assertNone(faults);
    assert.deepEqual(
      Object.keys(effects).filter((name) => !seen.has(name)),
      [],
    );
  });

  it('are read by what lies below objects too: a wrong value is refused', async () => {
    let tried = 0;
    const below = documents.operations.filter(({ path }) => path.includes('{name}/'));
    const faults = await faultsOf(below, async ({ method, path, parameters }, report) => {
      const url = urlOf(path, 'missing').replace('{path}', 'x');
      const contentType = method === 'patch' ? 'application/merge-patch+json' : 'application/json';
      for (const { name, in: where } of parameters) {
        if (where === 'path' || triedElsewhere(path, name)) continue;
        tried++;
        const place = `${method} ${path}?${name}`;
        if (name === 'pretty') {
          const { text } = await client.send(method.toUpperCase(), `${url}?pretty=true`, { body: '{', contentType });
          if (!/^\{\n {2}"/.test(text)) report(place, [`not indented: ${text.slice(0, 100)}`]);
          continue;
        }
        const wrong = name === 'fieldManager' ? '%07' : 'x';
        const sent: Sent = method === 'get' ? {} : { body: '{}', contentType };
        const { status, text } = await client.send(method.toUpperCase(), `${url}?${name}=${wrong}`, sent);
        if (status !== 400 && status !== 422) report(place, [`${status} ${text.slice(0, 200)}`]);
      }
    });
    assertNone(faults);
    assert.ok(tried > 400, String(tried));
  });
});

/** Of streams and logs, whose options need a pod and its agent: test/e2e/node-streams.spec.ts and simulated-nodes.spec.ts. */
function triedElsewhere(path: string, name: string): boolean {
  const streamOptions = ['command', 'container', 'stdin', 'stdout', 'stderr', 'tty', 'path'];
  if (/\/(?:exec|attach|portforward|proxy)(?:\/|$)/.test(path)) return streamOptions.includes(name);
  const logFlags = ['container', 'follow', 'insecureSkipTLSVerifyBackend', 'previous', 'timestamps'];
  return path.endsWith('/log') && logFlags.includes(name);
}

describe('requests that are not as described', () => {
  it('are refused with a Status when a field has another type, and write nothing', async () => {
    let sent = 0;
    const faults = await faultsOf(
      collections,
      async ({ template, path, make, nextName, isStored, definition }, report) => {
        const create = byPlace.get(`post ${template}`) as Operation;
        const schema = Object.values<Json>(create.v3.requestBody.content)[0].schema;
        const random = randomFor(`${template} broken`);
        for (let i = 0; i < brokenBodies; i++) {
          const body = make(nextName());
          const name = body.metadata?.name;
          const where = breakBody(create.document.schemas, schema, body, random);
          if (where === undefined) continue;
          sent++;
          const [accept, contentType] = [random.pick(forms), random.pick(anyForms)];
          const { answer, faults: found } = await ask(create, path, { accept, contentType, body });
          if (answer.status < 400) found.push(`takes ${where} of ${JSON.stringify(body).slice(0, 400)}`);
          // Its data may be any value for a decoder; that it is an object is a rule.
          else if (definition.resource === 'controllerrevisions' && where === 'data') assert.equal(answer.status, 422);
          else if (answer.status !== 400) found.push(`${answer.status} for ${where}: ${answer.text.slice(0, 300)}`);
          if (isStored && (await client.send('GET', `${path}/${name}`)).status !== 404)
            found.push(`${where} was written`);
          report(`post ${template}`, found);
        }
        for (const body of [[], 'no', '', '{']) {
          const { answer, faults: found } = await ask(create, path, { body });
          if (answer.status !== 400) found.push(`${answer.status} for the body ${JSON.stringify(body)}`);
          report(`post ${template}`, found);
        }
      },
    );
    assertNone(faults);
    assert.ok(sent > collections.length * 10, `only ${sent} were sent`);
  });

  it('are refused with a Status in other forms, for missing objects, without a known token', async () => {
    const connections = new Set(
      collections.flatMap(({ template, definition }) =>
        subresourcesOf(definition)
          .filter(leadsAway)
          .map(({ name }) => `${template}/{name}/${name}`),
      ),
    );
    const faults = await faultsOf(documents.operations, async (operation, report) => {
      const { method, path, v3 } = operation;
      const url = urlOf(path, 'missing');
      const expect = async (what: string, status: number, sent: Promise<Answer>) => {
        const answer = await sent;
        const found = answerFaults(operation, answer, documents.swagger);
        if (answer.status !== status) found.push(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`);
        report(`${method} ${path}`, found);
      };
      const verb = method.toUpperCase();
      await expect('without a known token', 401, client.sendAsStranger(verb, url));
      const place = path.replace(/\/\{path\}$/, '');
      const isLog = place.endsWith('/log');
      // A service that is not there is one without endpoints, as with the release: a 503, whatever form is asked for.
      if (place.endsWith('/services/{name}/proxy')) return;
      // The version is answered in JSON, whatever form is requested; what is behind a connection has forms of its own.
      if (path !== '/version/') {
        const status = connections.has(place) && !isLog ? 404 : 406;
        // The form of a patch is looked at first.
        const patchType = method === 'patch' ? { contentType: 'application/merge-patch+json', body: {} } : {};
        await expect('an answer as text/html', status, client.send(verb, url, { accept: 'text/html', ...patchType }));
      }
      const contentType = 'text/x-none';
      if (v3.requestBody !== undefined) {
        await expect('a body of an unknown form', 415, client.send(verb, url, { body: '{}', contentType }));
      }
      // A watch of an object that is not there waits for it.
      if (method === 'get' && path.includes('{name}') && !isWatchPath(path)) {
        for (const accept of isLog ? logForms : forms)
          await expect('a missing object', 404, client.send(verb, url, { accept }));
      }
    });
    assertNone(faults);
  });

  it('are refused with a Status when the method is not described', async () => {
    const paths = new Set(documents.operations.map(({ path }) => path));
    const faults = await faultsOf(paths, async (path, report) => {
      // The pages that list groups and the versions of one answer any method, as those of the release do.
      if (/^\/apis\/(?:[^/]+\/)?$/.test(path)) return;
      for (const method of methods) {
        if (byPlace.has(`${method} ${path}`)) continue;
        const answer = await client.send(method.toUpperCase(), urlOf(path, 'missing'), { body: {} });
        const isRefused = answer.status === 405 && answer.value?.kind === 'Status';
        if (!isRefused) report(`${method} ${path}`, [`${answer.status} ${answer.text.slice(0, 200)}`]);
      }
    });
    assertNone(faults);
  });
});
