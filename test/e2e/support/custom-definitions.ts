import assert from 'node:assert/strict';
import type { ApiClient, ApiResponse } from './api-client.js';
import { eventually } from './test-cluster.js';

/* Definitions of custom resources for tests. */

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A version of a definition in a test: the schema of the object, and other fields of a version. */
export interface TestVersion {
  readonly name: string;
  readonly schema?: object;
  readonly [field: string]: unknown;
}

export interface TestNames {
  readonly plural: string;
  readonly kind: string;
  readonly group?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly [name: string]: unknown;
}

/** A definition. The first version is the stored one unless another is marked as stored. */
export function customDefinition(named: TestNames, versions: readonly TestVersion[], more: object = {}) {
  const { group = 'test.example', scope = 'Namespaced', plural, kind, ...others } = named;
  const hasStorage = versions.some(({ storage }) => storage === true);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List`, ...others },
      versions: versions.map(({ schema, ...version }, i) => ({
        served: true,
        storage: !hasStorage && i === 0,
        schema: { openAPIV3Schema: schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        ...version,
      })),
      ...more,
    },
  };
}

type Definition = ReturnType<typeof customDefinition>;

/** The path of the objects of a version; for a namespaced kind, those in the namespace `default`. */
export function objectsPath({ spec }: Definition, version = spec.versions[0]?.name): string {
  const base = `/apis/${spec.group}/${String(version)}`;
  return spec.scope === 'Namespaced'
    ? `${base}/namespaces/default/${spec.names.plural}`
    : `${base}/${spec.names.plural}`;
}

/** Creates a definition and waits until all of these servers serve it. */
export async function define(definition: Definition, clients: readonly ApiClient[]): Promise<ApiResponse> {
  const [client] = clients as [ApiClient];
  const made = await client.post(definitionsPath, definition);
  assert.equal(made.status, 201, made.text);
  await established(client, definition);
  await served(definition, clients);
  return made;
}

async function established(client: ApiClient, { metadata: { name } }: Definition): Promise<void> {
  await eventually(async () => {
    const { body } = await client.get(`${definitionsPath}/${name}`);
    const conditions: { type: string; status: string }[] = body.status.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
  }, `${name} is established`);
}

export async function served(definition: Definition, clients: readonly ApiClient[]): Promise<void> {
  const { name } = definition.spec.versions.find((version) => version.served) as { name: string };
  for (const client of clients) {
    await eventually(
      async () => (await client.get(objectsPath(definition, name))).status === 200,
      `${definition.metadata.name} is served`,
    );
  }
}

/** Deletes a definition and waits until none of these servers serves it. */
export async function undefine(definition: Definition, clients: readonly ApiClient[]): Promise<void> {
  const [client] = clients as [ApiClient];
  const deleted = await client.delete(`${definitionsPath}/${definition.metadata.name}`);
  assert.equal(deleted.status, 200, deleted.text);
  for (const one of clients) {
    await eventually(
      async () => (await one.get(objectsPath(definition))).status === 404,
      `${definition.metadata.name} is gone`,
    );
  }
}
