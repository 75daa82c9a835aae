// Pages about every kind and every type of the API, from the OpenAPI documents of the program.

const reference = '#/components/schemas/';
const verbs = { list: 'list, watch', post: 'create', put: 'replace', deletecollection: 'delete several' };
const methodOrder = ['get', 'post', 'put', 'patch', 'delete'];

/** Texts in tables and paragraphs: nothing of it is markup. */
const asText = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');

/** `io.k8s.api.apps.v1.Deployment` -> its package and its name. */
function split(name) {
  const dot = name.lastIndexOf('.');
  return { home: name.slice(0, dot), short: name.slice(dot + 1) };
}

/** `io.k8s.api.apps.v1` -> `apps-v1`. */
function slugOf(home) {
  return home.split('.').slice(-2).join('-');
}

/** The resources of a document: kind, scope and requests of each. */
function resourcesOf(path, document) {
  const found = new Map();
  for (const [url, operations] of Object.entries(document.paths)) {
    const rest = url.slice(path.length + 2);
    const isNamespaced = rest.startsWith('namespaces/{namespace}/');
    const [resource, ...more] = (isNamespaced ? rest.slice('namespaces/{namespace}/'.length) : rest).split('/');
    if (resource === '' || resource === 'watch' || resource === 'proxy') continue;
    const entry = found.get(resource) ?? { resource, requests: [] };
    found.set(resource, entry);
    for (const method of methodOrder.filter((name) => name in operations)) {
      const operation = operations[method];
      const kind = operation['x-kubernetes-group-version-kind'];
      if (more.length <= 1 && kind !== undefined) {
        entry.kind ??= kind.kind;
        entry.isNamespaced ??= isNamespaced;
        if (isNamespaced) entry.isNamespaced = true;
      }
      entry.requests.push({ method: method.toUpperCase(), url, action: operation['x-kubernetes-action'] ?? method });
    }
  }
  return [...found.values()].filter(({ kind }) => kind !== undefined);
}

/** All pages of the reference: text by path below the folder of the reference. */
export function apiPages(documents) {
  const schemas = new Map();
  const groups = [];
  for (const [path, text] of documents) {
    const document = JSON.parse(text);
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) schemas.set(name, schema);
    groups.push({ path, resources: resourcesOf(path, document) });
  }
  const kinds = groups.flatMap(({ path, resources }) =>
    resources.map((resource) => ({ ...resource, path, schema: schemaOfKind(schemas, path, resource.kind) })),
  );
  const pages = new Map();
  const places = placesOf(schemas, kinds);
  const shown = kinds.filter(({ schema }) => schema !== undefined);
  for (const kind of shown) pages.set(places.get(kind.schema).page, kindPage(kind, { schemas, places }));
  const homes = Map.groupBy(
    [...schemas.keys()].filter((name) => places.get(name)?.isShared),
    (name) => split(name).home,
  );
  for (const [home, names] of homes) pages.set(`types/${slugOf(home)}.md`, typesPage(home, names, { schemas, places }));
  pages.set('index.md', indexPage(groups, shown, places, homes));
  return pages;
}

function schemaOfKind(schemas, path, kind) {
  const [group, version] = path === 'api/v1' ? ['', 'v1'] : path.split('/').slice(1);
  for (const [name, schema] of schemas) {
    const own = schema['x-kubernetes-group-version-kind'] ?? [];
    if (own.some((gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind)) return name;
  }
  return undefined;
}

/** Where each type is described: with the kind whose name it begins with, or among the types of its package. */
function placesOf(schemas, kinds) {
  const places = new Map();
  const pageOf = (kind) => `${slugOf(split(kind.schema).home)}/${kind.kind.toLowerCase()}.md`;
  const own = kinds.filter(({ schema }) => schema !== undefined);
  for (const kind of own) places.set(kind.schema, { page: pageOf(kind), anchor: '', kind: kind.schema });
  for (const name of schemas.keys()) {
    if (places.has(name) || (/List$/.test(name) && schemas.get(name).properties?.items !== undefined)) continue;
    const { home, short } = split(name);
    const [owner] = own
      .filter(({ schema, kind }) => split(schema).home === home && short.startsWith(kind))
      .sort((a, b) => b.kind.length - a.kind.length);
    const anchor = `#${short.toLowerCase()}`;
    if (owner === undefined) places.set(name, { page: `types/${slugOf(home)}.md`, anchor, isShared: true });
    else places.set(name, { page: pageOf(owner), anchor, kind: owner.schema });
  }
  return places;
}

function typeText(schema, from, parts) {
  const target = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (target !== undefined) return linkTo(target.slice(reference.length), from, parts);
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {}, from, parts)}`;
  if (typeof schema.additionalProperties === 'object')
    return `map of ${typeText(schema.additionalProperties, from, parts)}`;
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return 'integer or string';
  if (schema.oneOf !== undefined) return schema.oneOf.map((one) => typeText(one, from, parts)).join(' or ');
  return schema.format === undefined ? (schema.type ?? 'anything') : `${schema.type} (${schema.format})`;
}

function linkTo(name, from, { places }) {
  const { short } = split(name);
  const place = places.get(name);
  if (place === undefined) return short;
  const up = '../'.repeat(from.split('/').length - 1);
  return `[${short}](${place.page === from ? '' : up + place.page}${place.anchor})`;
}

function fieldTable(schema, from, parts) {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return [];
  const required = new Set(schema.required ?? []);
  const rows = fields.map(([name, field]) => {
    const type = typeText(field, from, parts);
    return `| \`${name}\`${required.has(name) ? ' *' : ''} | ${type} | ${asText(field.description ?? '')} |`;
  });
  return ['', '| Field (* required) | Type | |', '| --- | --- | --- |', ...rows];
}

function kindPage(kind, parts) {
  const { schemas, places } = parts;
  const { page } = places.get(kind.schema);
  const schema = schemas.get(kind.schema);
  const more = [...schemas.keys()].filter((name) => places.get(name)?.kind === kind.schema && name !== kind.schema);
  const apiVersion = kind.path === 'api/v1' ? 'v1' : kind.path.slice('apis/'.length);
  const requests = kind.requests.map(
    ({ method, url, action }) => `| ${verbs[action] ?? action} | \`${method} ${url}\` |`,
  );
  return [
    `# ${kind.kind}`,
    '',
    `\`apiVersion: ${apiVersion}\`, resource \`${kind.resource}\`, ${kind.isNamespaced ? 'in namespaces' : 'of the whole cluster'}.`,
    '',
    asText(schema.description ?? ''),
    ...fieldTable(schema, page, parts),
    ...more.flatMap((name) => ['', `## ${split(name).short}`, '', ...typeBody(name, page, parts)]),
    '',
    '## Requests',
    '',
    '| | |',
    '| --- | --- |',
    ...requests,
    '',
  ].join('\n');
}

function typeBody(name, page, parts) {
  const schema = parts.schemas.get(name);
  const table = fieldTable(schema, page, parts);
  const text = asText(schema.description ?? '');
  return table.length > 0 ? [text, ...table] : [text, '', `A ${typeText(schema, page, parts)}.`];
}

function typesPage(home, names, parts) {
  const page = `types/${slugOf(home)}.md`;
  const sections = names
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((name) => [`## ${split(name).short}`, '', ...typeBody(name, page, parts), '']);
  return [
    `# Types of ${slugOf(home).replace('-', '/')}`,
    '',
    'Parts of objects that no kind has for itself.',
    '',
    ...sections,
  ].join('\n');
}

function indexPage(groups, kinds, places, homes) {
  const sections = groups
    .filter(({ path }) => kinds.some((kind) => kind.path === path))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path }) => [
      `## ${path === 'api/v1' ? 'v1' : path.slice('apis/'.length)}`,
      '',
      '| Kind | Resource | |',
      '| --- | --- | --- |',
      ...kinds
        .filter((kind) => kind.path === path)
        .sort((a, b) => (a.kind < b.kind ? -1 : 1))
        .map(
          (kind) =>
            `| [${kind.kind}](${places.get(kind.schema).page}) | \`${kind.resource}\` | ${kind.isNamespaced ? 'in namespaces' : 'cluster'} |`,
        ),
      '',
    ]);
  const types = [...homes.keys()]
    .sort()
    .map((home) => `- [${slugOf(home).replace('-', '/')}](types/${slugOf(home)}.md)`);
  return [
    '# The API',
    '',
    'Every kind that Plinth serves, with its fields and requests, made from the declarations of the program. Group names are',
    'those of `--compat kubernetes`; without it the suffix of `--vendor` stands in place of `k8s.io` where that differs.',
    'A running server has the same as OpenAPI documents below `/openapi/v3`, and `kubectl explain` reads them.',
    '',
    ...sections,
    '## Types that several kinds share',
    '',
    ...types,
    '',
  ].join('\n');
}
