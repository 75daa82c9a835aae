import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { type OwnWrite, openAdmission, type WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import { LoopClient, type ResourceClient } from './loop-client.js';
import { ReconcileContext } from './reconcile-context.js';

type StoredPod = Pod & ApiObject;

describe('ResourceClient.post', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  let stores: ResourceStores;
  let pods: ResourceClient<StoredPod>;
  let work: ReconcileContext;
  let serial = 0;
  const user = { name: 'tester', uid: '', groups: [], extra: {} };
  const stop = new AbortController();

  before(async () => {
    postgres = await startTestPostgres();
    storage = await openTestStorage(await postgres.createTestDatabase());
    stores = await registeredGroups(storage);
  });
  after(async () => {
    stop.abort();
    await storage?.stop();
    await postgres?.stop();
  });
  beforeEach(async () => {
    work = new ReconcileContext(user, 'tester', systemTimers.now(), stop.signal);
    pods = clientWith();
    const namespaces = new LoopClient(parts()).of({ group: '', resource: 'namespaces' });
    serial += 1;
    await namespaces.create(work, { metadata: { name: `ns-${serial}` } });
  });

  const parts = () => ({ storage, registry: stores.registry, timers: systemTimers });

  function clientWith(more: { authorizer?: Authorizer; admission?: WriteAdmission } = {}): ResourceClient<StoredPod> {
    return new LoopClient({ ...parts(), ...more }).of<StoredPod>({ group: '', resource: 'pods' });
  }

  const addPod = () =>
    pods.create(work, {
      metadata: { name: 'p', namespace: `ns-${serial}` },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
  const target = { kind: 'Node', name: 'a' };

  it('writes a body into its parent by the rules of the path', async () => {
    const pod = await addPod();
    assert.equal(await pods.post(work, pod, 'binding', { target }), true);
    const bound = await pods.get(`ns-${serial}`, 'p');
    assert.equal(bound?.spec.nodeName, 'a');
    assert.equal(String(work.written), bound?.metadata.resourceVersion);
    await assert.rejects(pods.post(work, pod, 'binding', { target }), (error: unknown) => {
      assert.ok(error instanceof StatusError);
      assert.equal(error.reason, 'Conflict');
      return true;
    });
  });

  it('does what a path without an object of its own does', async () => {
    const pod = await addPod();
    assert.equal(await pods.post(work, pod, 'eviction', {}), true);
    assert.equal(await pods.get(`ns-${serial}`, 'p'), undefined);
  });

  it('says when the object is gone or another one', async () => {
    const pod = await addPod();
    await pods.delete(work, pod);
    assert.equal(await pods.post(work, pod, 'binding', { target }), false);
    await addPod();
    assert.equal(await pods.post(work, pod, 'binding', { target }), false);
    assert.equal((await pods.get(`ns-${serial}`, 'p'))?.spec.nodeName, undefined);
  });

  it('evicts no other pod of the same name', async () => {
    const pod = await addPod();
    await pods.delete(work, pod);
    await addPod();
    assert.equal(await pods.post(work, pod, 'eviction', {}), false);
    assert.notEqual(await pods.get(`ns-${serial}`, 'p'), undefined);
  });

  it('asks for the right to create at the path, and admission for the body', async () => {
    const pod = await addPod();
    const asked: AuthorizerAttributes[] = [];
    const authorizer: Authorizer = {
      authorize: (attributes) => {
        asked.push(attributes);
        return Promise.resolve({ decision: 'allow', reason: '' });
      },
    };
    const seen: string[] = [];
    const note = (phase: string, { kind, subresource, name }: OwnWrite, object?: ApiObject, old?: ApiObject) =>
      seen.push(`${phase} ${kind?.kind} ${subresource} ${name} ${object?.kind} ${old === undefined}`);
    const admission: WriteAdmission = {
      admit: (write, object, old) => {
        note('admit', write, object, old);
        return Promise.resolve(object);
      },
      validate: (write, object, old) => {
        note('validate', write, object, old);
        return openAdmission.validate(write, object, old);
      },
    };
    await clientWith({ authorizer, admission }).post(work, pod, 'binding', { target });
    assert.deepEqual(
      asked.map(({ verb, resource, subresource, name }) => [verb, resource, subresource, name]),
      [['create', 'pods', 'binding', 'p']],
    );
    assert.deepEqual(seen, ['admit Binding binding p Binding true', 'validate Binding binding p Binding true']);
  });

  it('does nothing that is denied', async () => {
    const pod = await addPod();
    const authorizer: Authorizer = { authorize: () => Promise.resolve({ decision: 'noOpinion', reason: '' }) };
    const denied = clientWith({ authorizer }).post(work, pod, 'eviction', {});
    await assert.rejects(denied, (error: unknown) => error instanceof StatusError && error.code === 403);
    assert.notEqual(await pods.get(`ns-${serial}`, 'p'), undefined);
  });

  it('knows no path that takes no bodies', async () => {
    const pod = await addPod();
    await assert.rejects(pods.post(work, pod, 'status', {}), /nothing can be created below pods at status/);
  });
});
