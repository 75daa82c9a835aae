import assert from 'node:assert/strict';
import { isStoredKind, type ResourceDefinition, verbsOf } from '../../src/objects/registry/resource-definition.js';
import { fittingName, validObject } from '../support/valid-objects.js';
import type { DocumentClient } from './document-client.js';
import type { Json } from './document-schemas.js';

/** The namespace of namespaced objects; events are about objects of this namespace. */
export const namespace = 'default';

const attributes = { verb: 'get', resource: 'pods', namespace };
/** The minimal content of kinds that are never stored. */
const questions: Readonly<Record<string, Json>> = {
  bindings: { target: { kind: 'Node', name: 'some' } },
  localsubjectaccessreviews: { metadata: { namespace }, spec: { user: 'alice', resourceAttributes: attributes } },
  selfsubjectaccessreviews: { spec: { resourceAttributes: attributes } },
  selfsubjectreviews: {},
  selfsubjectrulesreviews: { spec: { namespace } },
  subjectaccessreviews: { spec: { user: 'alice', nonResourceAttributes: { path: '/', verb: 'get' } } },
  tokenreviews: { spec: { token: 'x' } },
};

/** The same for objects that are created below another one of this name, by the name of the subresource. */
export const creations: Readonly<Record<string, (name: string) => Json>> = {
  binding: (name) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    target: { kind: 'Node', name: 'some' },
  }),
  eviction: (name) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }),
  token: () => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['a'] } }),
};

/** Whether objects of the kind must not have a name. */
function isNameless(resource: string): boolean {
  return resource.endsWith('accessreviews');
}

/** Objects of one resource in one version. */
export interface Collection {
  /** Path in the documents: `/apis/apps/v1/namespaces/{namespace}/deployments`. */
  readonly template: string;
  readonly path: string;
  readonly definition: ResourceDefinition;
  readonly isStored: boolean;
  /** A name that no other object has. */
  nextName(): string;
  /** A valid new object; those of some virtual kinds have no name. */
  make(name: string): Json;
}

/** Valid objects of every kind in every version: those that need another form in a version are read from the server. */
export async function readCollections(
  client: DocumentClient,
  definitions: Iterable<ResourceDefinition>,
): Promise<Collection[]> {
  const collections: Collection[] = [];
  let made = 0;
  for (const definition of definitions) {
    const { group, resource, namespaced, versions, kind } = definition;
    if (!verbsOf(definition).includes('create')) continue;
    const nextName = () => {
      made++;
      if (resource === 'apiservices') return `v1.sample-${made}`;
      if (resource === 'customresourcedefinitions') return `samples-${made}.example.com`;
      if (resource === 'storageversions') return `example.com.sample-${made}`;
      return resource === 'ipaddresses' ? `10.0.${100 + (made >> 8)}.${made & 255}` : `sample-${made}`;
    };
    const base = group === '' ? '/api' : `/apis/${group}`;
    const templateOf = (version: string) => {
      return `${base}/${version}${namespaced ? '/namespaces/{namespace}' : ''}/${resource}`;
    };
    const pathOf = (version: string) => templateOf(version).replace('{namespace}', namespace);
    const isStored = isStoredKind(definition);
    const stored = isStored ? await readVersions(client, definition, nextName(), pathOf) : undefined;
    for (const { version } of versions) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const body = stored?.get(version) ?? { apiVersion, kind, ...(questions[resource] ?? assert.fail(resource)) };
      collections.push({
        template: templateOf(version),
        path: pathOf(version),
        definition,
        isStored,
        nextName,
        make: (name) => {
          const copy = structuredClone(body);
          return isNameless(resource)
            ? copy
            : fittingName(definition, { ...copy, metadata: { ...copy.metadata, name } });
        },
      });
    }
  }
  return collections;
}

/** Bodies for each version; the object that they are read from is gone afterwards. */
async function readVersions(
  client: DocumentClient,
  definition: ResourceDefinition,
  name: string,
  pathOf: (version: string) => string,
): Promise<Map<string, Json>> {
  const bodies = new Map<string, Json>();
  const [first, ...others] = definition.versions;
  const body: Json = validObject(definition, { name });
  const made = await client.send('POST', pathOf(first.version), { body });
  assert.equal(made.status, 201, `${pathOf(first.version)}: ${made.text}`);
  bodies.set(first.version, { ...body, metadata: {} });
  for (const { version } of others) {
    const { value } = await client.send('GET', `${pathOf(version)}/${name}`);
    bodies.set(version, { ...value, metadata: { annotations: value.metadata.annotations }, status: undefined });
  }
  await client.send('DELETE', `${pathOf(first.version)}/${name}?gracePeriodSeconds=0`);
  return bodies;
}
