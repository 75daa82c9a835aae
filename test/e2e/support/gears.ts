import { eventually, type TestCluster } from './test-cluster.js';

const integer = { type: 'integer' };
const properties = { size: { type: 'number' }, teeth: { ...integer, format: 'int64' }, note: { type: 'string' } };

/** The definition of a kind with fields of both number types. */
export const gears = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gears.cbor.example' },
  spec: {
    group: 'cbor.example',
    scope: 'Namespaced',
    names: { plural: 'gears', kind: 'Gear' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
      },
    ],
  },
};

export const gearsPath = '/apis/cbor.example/v1/namespaces/default/gears';

/** Waits until every server of a cluster serves the kind of gears. */
export async function servesGears(cluster: TestCluster): Promise<void> {
  await eventually(
    async () => {
      const answers = await Promise.all(cluster.servers.map(({ client }) => client.get(gearsPath)));
      return answers.every(({ status }) => status === 200);
    },
    'the kind to be served',
    30_000,
  );
}
