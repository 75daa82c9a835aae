import type { InsecureClient } from './insecure-client.js';
import { answersOf } from './recorded-requests.js';

// biome-ignore lint/suspicious/noExplicitAny: documents are taken as they come
type Json = any;

/** What a server shows: by surface, then by item, as text that can be compared. */
export type Surfaces = Record<string, Record<string, string>>;

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const ownNamespaces = new Set([undefined, 'default', 'kube-system', 'kube-public', 'kube-node-lease']);
const bootstrapPaths = [
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
  '/api/v1/namespaces',
];

/** Reads everything that does not change while a server runs, and the answers to a list of requests. */
export async function readSurfaces(client: InsecureClient, help: string): Promise<Surfaces> {
  const get = async (path: string, accept?: string): Promise<Json> => {
    const { status, text } = await client.get(path, accept);
    return status === 200 ? JSON.parse(text) : {};
  };
  const { groups = [] } = await get('/apis');
  const versions = ['/api/v1', ...groups.flatMap((g: Json) => g.versions.map((v: Json) => `/apis/${v.groupVersion}`))];
  const surfaces: Surfaces = {
    discovery: {},
    columns: {},
    schemas: {},
    operations: {},
    bootstrap: {},
    health: {},
    gates: {},
    metrics: {},
    flags: flagsOf(help),
  };
  const put = (surface: string, item: string, value: unknown) => {
    (surfaces[surface] as Record<string, string>)[item] = JSON.stringify(value) ?? '';
  };
  for (const path of versions) {
    for (const resource of (await get(path)).resources ?? []) {
      put('discovery', `${path}/${resource.name}`, sorted(resource));
      if (!resource.verbs.includes('list')) continue;
      const { columnDefinitions = [] } = await get(`${path}/${resource.name}?limit=1`, table);
      const columns = columnDefinitions.map(({ description: _, ...column }: Json) => sorted(column));
      put('columns', `${path}/${resource.name}`, columns);
    }
  }
  for (const { serverRelativeURL } of Object.values<Json>((await get('/openapi/v3')).paths ?? {})) {
    const { components = {}, paths = {} } = await get(serverRelativeURL);
    for (const [name, { properties = {}, ...schema }] of Object.entries<Json>(components.schemas ?? {})) {
      put('schemas', name, plain(schema));
      for (const [field, type] of Object.entries(properties)) put('schemas', `${name}.${field}`, plain(type));
    }
    for (const [path, { parameters = [], ...methods }] of Object.entries<Json>(paths)) {
      for (const [method, operation] of Object.entries<Json>(methods)) {
        const all = [...parameters, ...(operation.parameters ?? [])];
        const names = all.map((parameter: Json) => `${parameter.in} ${parameter.name}`).sort();
        const codes = Object.keys(operation.responses).filter((code) => code !== 'default');
        put('operations', `${method.toUpperCase()} ${path}`, { id: operation.operationId, names, codes });
      }
    }
  }
  for (const path of bootstrapPaths) {
    for (const { metadata, status: _, ...object } of (await get(path)).items ?? []) {
      if (!ownNamespaces.has(metadata.namespace)) continue;
      const name = [path.slice(path.lastIndexOf('/') + 1), metadata.namespace, metadata.name].filter(Boolean).join('/');
      put('bootstrap', name, sorted({ ...object, labels: metadata.labels, annotations: metadata.annotations }));
    }
  }
  for (const path of ['/livez', '/readyz']) {
    const { text } = await client.get(`${path}?verbose`, '*/*');
    for (const [, check] of text.matchAll(/^\[[+-]\](\S+)/gm)) put('health', `${path} ${check}`, '');
  }
  const { text } = await client.get('/metrics', 'text/plain');
  for (const [, name, stability = '', type] of text.matchAll(/^# HELP (\S+) (?:\[(\w+)\])?.*\n# TYPE \S+ (\w+)/gm)) {
    put('metrics', name as string, `${stability} ${type}`);
  }
  for (const [, name, stage, on] of text.matchAll(
    /^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)".*\} (\d)/gm,
  )) {
    put('gates', name as string, `${stage} ${on}`);
  }
  surfaces.answers = await answersOf(client);
  return surfaces;
}

/** Names and defaults of flags in a help text, of the release's layout or ours. */
function flagsOf(help: string): Record<string, string> {
  const flags: Record<string, string> = {};
  let current = '';
  for (const line of help.split('\n')) {
    const [, name, rest = ''] = /^ {2,6}(?:-\w, )?--([\w.-]+)(.*)$/.exec(line) ?? [];
    if (name !== undefined) current = name;
    else if (!/^\s{8,}\S/.test(line)) current = '';
    if (current === '') continue;
    const [, preset] = /\(default "?(.*?)"?\)/.exec(name === undefined ? line : rest) ?? [];
    flags[current] = preset ?? flags[current] ?? '';
  }
  return flags;
}

/** A schema without texts, and with a reference written alike with and without `allOf`. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const { description: _, allOf, ...rest } = value;
  return sorted({ ...rest, ...(allOf?.length === 1 ? allOf[0] : allOf === undefined ? {} : { allOf }) }, plain);
}

function sorted(value: Json, change: (member: Json) => Json = (member) => member): Json {
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, change(value[key])]),
  );
}
