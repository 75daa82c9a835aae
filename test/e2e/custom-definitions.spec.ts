import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customDefinition, define, definitionsPath, objectsPath } from './support/custom-definitions.js';
import { Kubectl } from './support/kubectl.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let kubectl: Kubectl;

before(async () => {
  cluster = await sharedCluster('loops');
  kubectl = new Kubectl(cluster.first.kubeconfig);
});

after(() => cluster.stop());

const clients = () => cluster.servers.map(({ client }) => client);

describe('the definition of a custom resource', () => {
  it('is established, shown and deleted by kubectl', async () => {
    const definition = customDefinition({ plural: 'shelves', kind: 'Shelf', shortNames: ['sh'] }, [{ name: 'v1' }]);
    kubectl.ok(['create', '-f', '-'], JSON.stringify(definition));
    // Before there are conditions, kubectl ends with an error instead of waiting for them.
    const path = `${definitionsPath}/shelves.test.example`;
    await eventually(
      async () => (await cluster.first.client.get(path)).body.status?.conditions?.length > 0,
      'the definition has conditions',
    );
    kubectl.ok(['wait', '--for', 'condition=established', '--timeout=20s', 'crd/shelves.test.example']);
    assert.match(
      kubectl.ok(['get', 'crd']),
      /^NAME\s+SCOPE\s+VERSIONS\s+CREATED AT\n(?:.*\n)*shelves\.test\.example\s+Namespaced\s+v1\(storage\)\s+\d{4}-\d\d-\d\dT/,
    );
    assert.match(
      kubectl.ok(['get', 'crds', '-o', 'name']),
      /^customresourcedefinition\.apiextensions\.k8s\.io\/shelves/m,
    );
    assert.match(kubectl.ok(['get', 'api-extensions']), /shelves\.test\.example/);
    const columns = 'jsonpath={.status.conditions[*].type}={.status.conditions[*].reason} {.status.storedVersions}';
    assert.equal(
      kubectl.ok(['get', 'crd', 'shelves.test.example', '-o', columns]),
      'NamesAccepted Established=NoConflicts InitialNamesAccepted ["v1"]',
    );
    kubectl.ok(['delete', 'crd', 'shelves.test.example', '--timeout=20s']);
    assert.equal(kubectl.run(['get', 'crd', 'shelves.test.example']).code, 1);
  });

  it('that takes any field is published in Swagger 2.0 as any object', async () => {
    const { client } = cluster.first;
    const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const made = await client.post(definitionsPath, {
      metadata: { name: 'anythings.open.example.com' },
      spec: {
        group: 'open.example.com',
        scope: 'Namespaced',
        names: { plural: 'anythings', kind: 'Anything' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: anything } }],
      },
    });
    assert.equal(made.status, 201, made.text);
    const published = await eventually(async () => {
      const { definitions } = (await client.get('/openapi/v2')).body;
      return definitions['com.example.open.v1.Anything'];
    }, 'the kind is published');
    assert.equal(published.type, 'object');
    assert.deepEqual(Object.keys(published).sort(), ['type', 'x-kubernetes-group-version-kind']);
    await client.delete(`${definitionsPath}/anythings.open.example.com`);
  });

  it('is established before anybody waits for it', async () => {
    const took: number[] = [];
    // The goal is 50 ms on a quiet machine, without repeated requests. A busy machine needs more attempts.
    for (let i = 0; i < 5 || (Math.min(...took) >= 500 && i < 50); i++) {
      const name = `quick${i}.test.example`;
      const { client } = cluster.first;
      const began = performance.now();
      const made = await client.post(
        definitionsPath,
        customDefinition({ plural: `quick${i}`, kind: `Quick${i}` }, [{ name: 'v1' }]),
      );
      assert.equal(made.status, 201, made.text);
      for (let isThere = false; !isThere; ) {
        const { body } = await client.get(`${definitionsPath}/${name}`);
        isThere = (body.status.conditions ?? []).some(
          ({ type, status }: { type: string; status: string }) => type === 'Established' && status === 'True',
        );
      }
      took.push(performance.now() - began);
      await client.delete(`${definitionsPath}/${name}`);
    }
    assert.ok(Math.min(...took) < 500, took.join(', '));
  });

  it('is refused with all that is wrong with it', async () => {
    const definition = customDefinition({ plural: 'racks', kind: 'Rack' }, [
      {
        name: 'v1',
        schema: {
          type: 'object',
          properties: { spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.none == 1' }] } },
        },
      },
      { name: 'v1' },
    ]);
    const { status, body } = await cluster.second.client.post(definitionsPath, definition);
    assert.equal(status, 422);
    const causes = body.details.causes.map(
      ({ field, message }: { field: string; message: string }) => `${field} ${message.split('\n')[0]}`,
    );
    assert.deepEqual(causes, [
      `spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule Invalid value: {"Rule":"self.none == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'none'`,
      'spec.versions Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names',
    ]);
  });

  it('keeps its names from others, and its end from its own status', async () => {
    const { client } = cluster.second;
    const first = customDefinition({ plural: 'boxes', kind: 'Box' }, [{ name: 'v1' }]);
    await define(first, clients());
    const second = customDefinition({ plural: 'boxen', kind: 'Box' }, [{ name: 'v1' }]);
    assert.equal((await client.post(definitionsPath, second)).status, 201);
    const reasonOf = async (name: string, type: string) => {
      const { body } = await client.get(`${definitionsPath}/${name}`);
      return body.status.conditions?.find((condition: { type: string }) => condition.type === type)?.reason;
    };
    await eventually(
      async () => (await reasonOf('boxen.test.example', 'NamesAccepted')) === 'ListKindConflict',
      'a conflict',
    );
    const patch = { spec: { scope: 'Cluster', names: { kind: 'Other', listKind: 'Others' } } };
    const refused = await client.patch(`${definitionsPath}/boxes.test.example`, 'merge', patch);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /spec\.scope: Invalid value: .*field is immutable.*spec\.names\.kind/);
    assert.equal((await client.delete(`${definitionsPath}/boxes.test.example`)).status, 200);
    await eventually(
      async () => (await reasonOf('boxen.test.example', 'Established')) === 'InitialNamesAccepted',
      'the names are free',
    );
    assert.equal((await client.delete(`${definitionsPath}/boxen.test.example`)).status, 200);
  });

  it('takes its objects along while another process writes some', async () => {
    const definition = customDefinition({ plural: 'crates', kind: 'Crate' }, [{ name: 'v1' }]);
    await define(definition, clients());
    const path = objectsPath(definition);
    const body = { apiVersion: 'test.example/v1', kind: 'Crate' };
    const held = { ...body, metadata: { name: 'held', finalizers: ['test.example/wait'] } };
    assert.equal((await cluster.first.client.post(path, held)).status, 201);
    const answers = new Map<number, number>();
    let made = 0;
    const writer = async (w: number) => {
      for (let i = 0; i < 400; i++) {
        const { status } = await cluster.second.client.post(path, { ...body, metadata: { name: `w${w}-${i}` } });
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (status === 201) made++;
        else if (status === 404 || status === 405) return;
      }
    };
    const writers = [1, 2, 3, 4].map(writer);
    await eventually(async () => Promise.resolve(made > 20), 'objects are there');
    const deleted = await cluster.first.client.delete(`${definitionsPath}/crates.test.example`);
    assert.deepEqual(deleted.body.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
    await Promise.all(writers);
    assert.deepEqual(
      [...answers.keys()].filter((status) => ![201, 404, 405].includes(status)),
      [],
    );
    const reason = async () => {
      const { body } = await cluster.second.client.get(`${definitionsPath}/crates.test.example`);
      return body.status.conditions.find(({ type }: { type: string }) => type === 'Terminating')?.message;
    };
    await eventually(async () => /1 wait for their finalizers/.test(await reason()), 'only the held object is left');
    const released = await cluster.second.client.patch(`${path}/held`, 'merge', { metadata: { finalizers: null } });
    assert.equal(released.status, 200, released.text);
    await eventually(
      async () => (await cluster.second.client.get(`${definitionsPath}/crates.test.example`)).status === 404,
      'the definition is gone',
    );
    await define(definition, clients());
    for (const client of clients()) assert.deepEqual((await client.get(path)).body.items, []);
    assert.equal((await cluster.first.client.delete(`${definitionsPath}/crates.test.example`)).status, 200);
  });

  it('may have rules that compare and that show what is wrong', async () => {
    const rules = [
      {
        rule: 'self.min <= self.max',
        messageExpression: '"min is larger than " + string(self.max)',
        fieldPath: '.min',
      },
      { rule: 'self.max >= oldSelf.max', message: 'max may only grow', reason: 'FieldValueForbidden' },
    ];
    const properties = { min: { type: 'integer' }, max: { type: 'integer' } };
    const spec = { type: 'object', required: ['min', 'max'], properties, 'x-kubernetes-validations': rules };
    const schema = { type: 'object', properties: { spec } };
    const definition = customDefinition({ plural: 'ranges', kind: 'Range' }, [{ name: 'v1', schema }]);
    await define(definition, clients());
    const path = objectsPath(definition);
    const range = (min: number, max: number) => ({
      apiVersion: 'test.example/v1',
      kind: 'Range',
      metadata: { name: 'r' },
      spec: { min, max },
    });
    const wrong = await cluster.first.client.post(path, range(3, 2));
    assert.equal(wrong.status, 422, wrong.text);
    assert.equal(
      wrong.body.message,
      'Range.test.example "r" is invalid: spec.min: Invalid value: min is larger than 2',
    );
    assert.equal((await cluster.first.client.post(path, range(1, 5))).status, 201);
    const shrunk = await cluster.second.client.patch(`${path}/r`, 'merge', { spec: { max: 4 } });
    assert.equal(shrunk.body.message, 'Range.test.example "r" is invalid: spec: Forbidden: max may only grow');
    assert.equal((await cluster.second.client.patch(`${path}/r`, 'merge', { spec: { max: 6 } })).status, 200);
    assert.equal((await cluster.first.client.delete(`${definitionsPath}/ranges.test.example`)).status, 200);
  });
});
