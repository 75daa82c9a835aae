import { configMap, type HostileCase, many, paths } from './cases.js';

const { configMaps, pods } = paths;

function get(name: string, path: string, headers: Readonly<Record<string, string>> = {}): HostileCase {
  return { name, method: 'GET', path, headers };
}

const long = (part: (i: number) => string, bytes = 55_000) =>
  encodeURIComponent(many(part, bytes / 1.6)).slice(0, bytes);
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const protobuf = 'application/vnd.kubernetes.protobuf';
const partial = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const wideWatch = (query = '') => `/api/v1/namespaces/wide/configmaps?watch=1&timeoutSeconds=5${query}`;

/** Heads, queries, and large answers. */
export const queryCases: readonly HostileCase[] = [
  get('label selector of 60 KB', `${pods}?labelSelector=${long((i) => `k${i}!=v`)}`),
  get(
    'label selector, one set',
    `${pods}?labelSelector=${encodeURIComponent(`k in (${many((i) => `v${i}`, 30_000)})`)}`,
  ),
  get('label selector, blanks', `${pods}?labelSelector=a${'+'.repeat(55_000)}%21`),
  get('field selector of 60 KB', `${pods}?fieldSelector=${long((i) => `metadata.name!=v${i}`)}`),
  get('field selector, escapes', `${pods}?fieldSelector=metadata.name=${'%5C'.repeat(18_000)}`),
  get('continue token of 60 KB', `${pods}?continue=${'A'.repeat(55_000)}`),
  get('many parameters', `${pods}?${'a&'.repeat(27_000)}`),
  get('Accept of 60 KB', pods, { accept: many((i) => `a/b;q=0.${i}`, 55_000) }),
  get('Accept, one clause', pods, { accept: `application/json${';a=b'.repeat(13_000)}` }),
  get('Accept-Encoding of 60 KB', pods, { 'accept-encoding': many((i) => `x${i};q=0.1`, 55_000) }),
  get('path of 60 KB', `${pods}/${'a%2F'.repeat(13_000)}`),
  {
    name: 'delete options',
    method: 'DELETE',
    path: `${configMaps}/none`,
    contentType: 'application/json',
    body: () => `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":[${many(() => '"All"')}]}`,
  },
  {
    name: 'field manager of 60 KB',
    method: 'POST',
    path: `${configMaps}?fieldManager=${'%01'.repeat(18_000)}`,
    contentType: 'application/json',
    body: () => configMap('manager-query'),
  },
];

/** Large answers; the runner fills the namespaces first. */
export const answerCases: readonly HostileCase[] = [
  get('list of 150 MB', '/api/v1/namespaces/large/configmaps'),
  get('list of 150 MB, gzip', '/api/v1/namespaces/large/configmaps', { 'accept-encoding': 'gzip' }),
  get('list of 150 MB, Table', '/api/v1/namespaces/large/configmaps', { accept: table }),
  get('list of 150 MB, protobuf', '/api/v1/namespaces/large/configmaps', { accept: protobuf }),
  get('list of 30,000', '/api/v1/namespaces/many/configmaps'),
  get('list of 30,000, Table', '/api/v1/namespaces/many/configmaps', { accept: table }),
  get('list of 30,000, Table with objects', '/api/v1/namespaces/many/configmaps?includeObject=Object', {
    accept: table,
  }),
  get('list of 30,000, protobuf', '/api/v1/namespaces/many/configmaps', { accept: protobuf }),
  get('list of 30,000, YAML', '/api/v1/namespaces/many/configmaps', { accept: 'application/yaml' }),
  get('list of 30,000, indented', '/api/v1/namespaces/many/configmaps?pretty=true'),
  get('list of 30,000, by a label', '/api/v1/namespaces/many/configmaps?labelSelector=group%21%3Dg1'),
  get('watch, 30,000 initial events', '/api/v1/namespaces/many/configmaps?watch=1&timeoutSeconds=3'),
  get('watch, 30,000 initial events, protobuf', '/api/v1/namespaces/many/configmaps?watch=1&timeoutSeconds=3', {
    accept: `${protobuf};stream=watch`,
  }),
  get('watch, 30,000 initial events, Table', '/api/v1/namespaces/many/configmaps?watch=1&timeoutSeconds=3', {
    accept: table,
  }),
  get('list of wide objects', '/api/v1/namespaces/wide/configmaps'),
  get('list of wide objects, by a label', '/api/v1/namespaces/wide/configmaps?labelSelector=group%21%3Dg1'),
  get('list of wide objects, by a field', '/api/v1/namespaces/wide/configmaps?fieldSelector=metadata.name%21%3Dc1'),
  get('list of wide objects, Table', '/api/v1/namespaces/wide/configmaps', { accept: table }),
  get('list of wide objects, metadata', '/api/v1/namespaces/wide/configmaps', { accept: partial }),
  get('watch, wide initial events by a label', wideWatch('&labelSelector=group%21%3Dg1')),
  get('watch, wide initial events, protobuf', wideWatch(), { accept: `${protobuf};stream=watch` }),
  get('watch, wide initial events, Table', wideWatch(), { accept: table }),
  get('get of a large object', `${configMaps}/keys-ok`),
  get('get of a large object, protobuf', `${configMaps}/keys-ok`, { accept: protobuf }),
  get('get of a large object, YAML', `${configMaps}/keys-ok`, { accept: 'application/yaml' }),
  get('get of a large object, Table', `${configMaps}/keys-ok`, { accept: table }),
  get('get of a large object, indented', `${configMaps}/keys-ok?pretty=true`),
  { name: 'delete of a large object', method: 'DELETE', path: `${configMaps}/keys-ok` },
  { name: 'delete of a collection', method: 'DELETE', path: `${configMaps}?labelSelector=%21nothing` },
];
