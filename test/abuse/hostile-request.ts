import { stringify } from 'yaml';
import { type ResourceDefinition, subresourcesOf } from '../../src/objects/registry/resource-definition.js';
import { encodeObject } from '../e2e/support/protobuf-client.js';
import { mutateBytes, mutateJsonText, mutateValue, mutateYamlText } from '../support/mutations.js';
import { Random } from '../support/random.js';
import { RandomValues } from '../support/random-values.js';
import { registeredGroups } from '../support/registered-groups.js';
import { validObject } from '../support/valid-objects.js';
import { enlarge } from './large-object.js';

/** The deliberate misbehaviour of a client, besides its request. */
export type Fate =
  | 'none'
  | 'leave before the body'
  | 'leave within the body'
  | 'leave at the head'
  | 'leave within the answer'
  | 'reset the connection'
  | 'stop reading';

/** One request, the same for the same seed and number. */
export interface HostileRequest {
  readonly number: number;
  readonly server: number;
  readonly http: 1 | 2;
  readonly token: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly fate: Fate;
}

export const abuseNamespace = 'abuse';
/** Objects that must stay, so that later requests still find something. */
const keptNamespaces: ReadonlySet<string> = new Set([abuseNamespace, 'default', 'kube-system']);

interface Target {
  readonly definition: ResourceDefinition;
  readonly version: ResourceDefinition['versions'][number];
}

const { registry } = await registeredGroups();
const targets: readonly Target[] = registry
  .definitions()
  .flatMap((definition) => definition.versions.map((version) => ({ definition, version })));

const vendor = 'application/vnd.kubernetes.protobuf';
const views = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList', 'Nonsense'];
const plainAccepts = [
  'application/json',
  'application/yaml',
  vendor,
  '*/*',
  '',
  'text/html',
  'a/b;q=x,,;',
  'x'.repeat(3000),
];
const names = [
  'a',
  'b',
  'c',
  'kubernetes',
  'default',
  'A_B',
  '..',
  '%00',
  '%2e%2e',
  'x'.repeat(260),
  'ä',
  'system:x',
  'a.b',
];
const values = [
  '',
  '0',
  '1',
  '5',
  '-1',
  'abc',
  'true',
  'false',
  'All',
  'x',
  '999999999999999999999',
  'NotOlderThan',
  'Exact',
];
const wellMeant: Readonly<Record<string, readonly string[]>> = {
  limit: ['1', '500'],
  continue: ['x', 'eyJ2IjoxfQ'],
  resourceVersion: ['0', '1', '7', '18446744073709551615'],
  resourceVersionMatch: ['Exact', 'NotOlderThan'],
  labelSelector: ['a=b', 'a in (b,c),!d', 'a==', ','.repeat(50), `a in (${'x,'.repeat(500)}y)`],
  fieldSelector: ['metadata.name=a', 'spec.nodeName=b', 'x=y', 'metadata.name!=a,metadata.namespace=b'],
  watch: ['1', 'true', '0'],
  allowWatchBookmarks: ['true', '1'],
  sendInitialEvents: ['true', 'false'],
  timeoutSeconds: ['0', '1', '2'],
  dryRun: ['All', 'Some'],
  fieldManager: ['m', 'x'.repeat(200)],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'No'],
  force: ['true', 'false', 'maybe'],
  gracePeriodSeconds: ['0', '30', '-5'],
  propagationPolicy: ['Orphan', 'Foreground', 'Background', 'None'],
  orphanDependents: ['true', 'false'],
  pretty: ['true', 'True', '0'],
  includeObject: ['None', 'Metadata', 'Object', 'x'],
  verbose: ['', '1'],
  exclude: ['ping'],
  timeout: ['1s', '0', 'x'],
};
const parameters = Object.keys(wellMeant);
const plainPaths = [
  '/',
  '/api',
  '/apis',
  '/livez',
  '/readyz',
  '/healthz',
  '/livez/ping',
  '/metrics',
  '/version',
  '/openapi/v2',
  '/openapi/v3',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/apis/apps',
  '/api/v1',
  '/apis/x/y',
  '//',
  '/api/v1//pods',
  '/%',
  '/swagger.json',
];
/** Share of bodies that are so large that the server handles them in another way. */
const largeChance = 0.025;
/** Share of bodies that follow the rules of their kind before one part is changed. */
const validChance = 0.5;
const patchTypes = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'];

/** Makes the request with a number. */
export function hostileRequest(seed: number, number: number, tokens: readonly string[]): HostileRequest {
  const random = new Random((seed ^ Math.imul(number + 1, 0x9e3779b1)) >>> 0);
  const target = random.pick(targets);
  const method = pickMethod(random);
  const isPlain = random.chance(0.04);
  const { path, name } = isPlain ? { path: random.pick(plainPaths), name: '' } : pathOf(random, target, method);
  const query = queryOf(random);
  // In any case: without these objects, later requests would have no targets.
  const isKept = method === 'DELETE' && target.definition.resource === 'namespaces' && keptNamespaces.has(name);
  const headers: Record<string, string> = { 'user-agent': random.chance(0.9) ? 'abuse/1.0' : 'kubectl/v1' };
  const accept = acceptOf(random);
  if (accept !== undefined) headers.accept = accept;
  if (random.chance(0.1)) headers['accept-encoding'] = random.pick(['gzip', 'identity;q=0', '*', 'br']);
  if (random.chance(0.03)) headers['impersonate-user'] = random.pick(['bob', '', 'system:admin']);
  if (random.chance(0.02)) headers['x-made-up'] = 'y'.repeat(random.below(80_000));
  if (random.chance(0.02)) headers.expect = '100-continue';
  const sent = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(random, target, name, method);
  if (sent !== undefined) headers['content-type'] = sent.type;
  return {
    number,
    server: random.below(2),
    http: random.chance(0.5) ? 1 : 2,
    token: random.chance(0.04) ? undefined : random.pick(tokens),
    method: isKept ? 'GET' : method,
    path: query === '' ? path : `${path}?${query}`,
    headers,
    body: isKept ? undefined : sent?.body,
    fate: fateOf(random),
  };
}

function pickMethod(random: Random): string {
  const dice = random.next();
  if (dice < 0.4) return 'GET';
  if (dice < 0.6) return 'POST';
  if (dice < 0.72) return 'PUT';
  if (dice < 0.86) return 'PATCH';
  if (dice < 0.96) return 'DELETE';
  return random.pick(['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE']);
}

function pathOf(random: Random, { definition, version }: Target, method: string): { path: string; name: string } {
  const group = definition.group === '' ? '/api' : `/apis/${definition.group}`;
  const old = random.chance(0.03) ? '/watch' : '';
  const inNamespace = random.chance(definition.namespaced ? 0.85 : 0.1);
  const namespace = random.chance(0.9) ? abuseNamespace : encodePart(random);
  const isCollection = method === 'POST' ? random.chance(0.8) : random.chance(0.35);
  const name = isCollection ? '' : encodePart(random);
  const subresources = subresourcesOf(definition).map((one) => one.name);
  const subresource = random.chance(0.2) ? random.pick([...subresources, 'status', 'scale', 'made-up', 'exec']) : '';
  const parts = [
    `${group}/${version.version}${old}`,
    ...(inNamespace ? [`namespaces/${namespace}`] : []),
    definition.resource,
    ...(name === '' ? [] : [name]),
    ...(subresource === '' ? [] : [subresource]),
    ...(random.chance(0.01) ? ['more'] : []),
  ];
  return { path: parts.join('/'), name };
}

function encodePart(random: Random): string {
  const name = random.pick(names);
  return name.includes('%') ? name : encodeURIComponent(name);
}

function queryOf(random: Random): string {
  const parts: string[] = [];
  for (let count = random.chance(0.4) ? 0 : 1 + random.below(4); count > 0; count--) {
    const name = random.pick(parameters);
    const value = random.chance(0.75) ? random.pick(wellMeant[name] as readonly string[]) : random.pick(values);
    parts.push(random.chance(0.05) ? name : `${name}=${encodeURIComponent(value)}`);
    if (random.chance(0.08)) parts.push(`${name}=${encodeURIComponent(random.pick(values))}`);
  }
  if (random.chance(0.01)) parts.push(`labelSelector=${'x'.repeat(20_000)}`);
  if (random.chance(0.01)) parts.push('%zz=%');
  if (random.chance(0.12)) parts.push('watch=1', `timeoutSeconds=${1 + random.below(3)}`);
  return parts.join('&');
}

function acceptOf(random: Random): string | undefined {
  if (random.chance(0.2)) return undefined;
  if (random.chance(0.5)) return random.pick(plainAccepts);
  const base = random.chance(0.75) ? 'application/json' : random.pick([vendor, 'application/yaml']);
  const form = `${base};as=${random.pick(views)};g=meta.k8s.io;v=${random.pick(['v1', 'v1beta1', 'v2'])}`;
  return random.chance(0.2) ? `${form},application/json` : form;
}

function bodyOf(
  random: Random,
  { definition, version }: Target,
  name: string,
  method: string,
): { body: Buffer; type: string } {
  const made = objectOf(random, { definition, version }, name, method);
  const object = random.chance(largeChance) ? enlarge(random, made) : made;
  const json = 'application/json';
  if (method === 'PATCH') {
    const type = `application/${random.chance(0.95) ? random.pick(patchTypes) : 'nonsense'}`;
    const operations = Array.from({ length: 1 + random.below(3) }, () => ({
      op: random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
      path: random.pick([
        '/metadata/labels',
        '/spec',
        '/metadata/labels/a',
        '',
        '/x/y',
        '/metadata/name',
        'x',
        '/metadata/finalizers/-',
      ]),
      from: random.pick(['/metadata', '/spec', '/x']),
      value: random.pick([{}, [], null, 'x', { a: 'b' }, object]),
    }));
    const value = type.includes('json-patch') && random.chance(0.8) ? operations : object;
    const text = JSON.stringify(random.chance(0.4) ? mutateValue(random, value) : value) ?? '';
    return { type, body: maybeBroken(random, Buffer.from(text)) };
  }
  if (method === 'DELETE' && random.chance(0.7)) {
    if (random.chance(0.5)) return { type: json, body: Buffer.alloc(0) };
    const options = {
      kind: 'DeleteOptions',
      apiVersion: random.pick(['v1', 'meta/v1', 'x']),
      gracePeriodSeconds: random.pick([0, 30, -1, undefined, 'x']),
      propagationPolicy: random.pick(['Orphan', 'Background', undefined, 'x']),
      preconditions: random.pick([undefined, { uid: 'x' }, { resourceVersion: '1' }, {}]),
      dryRun: random.pick([undefined, ['All'], ['x'], []]),
    };
    return { type: json, body: maybeBroken(random, Buffer.from(JSON.stringify(options))) };
  }
  switch (random.below(8)) {
    case 0: {
      // JSON is YAML too, and quick to make even when it is long.
      const text = object === made ? stringify(object) : JSON.stringify(object);
      const sent = random.chance(0.5) && object === made ? mutateYamlText(random, text) : text;
      return { type: 'application/yaml', body: maybeBroken(random, Buffer.from(sent)) };
    }
    case 1:
      return { type: vendor, body: maybeBroken(random, protobufOf(version.type, object)) };
    case 2:
      return { type: json, body: Buffer.from(mutateJsonText(random, object)) };
    case 3:
      return { type: json, body: Buffer.from(JSON.stringify(mutateValue(random, object)) ?? '') };
    case 4:
      return {
        type: random.pick([json, 'text/plain', '', vendor, 'application/yaml', 'application/json; charset=latin1']),
        body: Buffer.from(random.pick(['{}', '', '[]', 'null', '"x"', '{', '\u0000', 'k8s\u0000'])),
      };
    default:
      return { type: json, body: maybeBroken(random, Buffer.from(JSON.stringify(object))) };
  }
}

function objectOf(
  random: Random,
  { definition, version }: Target,
  name: string,
  method: string,
): Record<string, unknown> {
  // A valid object is stored, and then other requests read, change and delete it.
  const valid = random.chance(validChance) ? validBody(definition) : undefined;
  const object = valid ?? (new RandomValues(random).valueOf(version.type) as Record<string, unknown>);
  if (valid === undefined && random.chance(0.2)) return object;
  // With correct metadata, the server checks more of the rest.
  const named =
    method === 'POST' && random.chance(0.3)
      ? { generateName: 'g-' }
      : { name: name === '' ? random.pick(['a', 'b', 'c']) : name };
  const metadata = { ...named, labels: { a: 'b' }, ...(random.chance(0.1) ? { finalizers: ['example.com/x'] } : {}) };
  const apiVersion = definition.group === '' ? version.version : `${definition.group}/${version.version}`;
  return { ...object, kind: definition.kind, apiVersion, metadata };
}

/** Undefined for kinds that are not stored. */
function validBody(definition: ResourceDefinition): Record<string, unknown> | undefined {
  try {
    return { ...validObject(definition, {}) };
  } catch {
    return undefined;
  }
}

function protobufOf(type: Target['version']['type'], object: Record<string, unknown>): Buffer {
  try {
    return encodeObject(type, object);
  } catch {
    // Not every JSON value has a form on the wire.
    return encodeObject(type, {});
  }
}

function maybeBroken(random: Random, body: Buffer): Buffer {
  if (random.chance(0.1)) return body.subarray(0, random.below(body.length + 1));
  return random.chance(0.1) ? mutateBytes(random, body) : body;
}

function fateOf(random: Random): Fate {
  const dice = random.next();
  if (dice < 0.8) return 'none';
  return random.pick([
    'leave before the body',
    'leave within the body',
    'leave at the head',
    'leave within the answer',
    'reset the connection',
    'stop reading',
  ] as const);
}
