import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { GraphInformer } from './graph-informer.js';
import { NodeGraph } from './node-graph.js';
import { referenceKey } from './pod-references.js';

const names = vendorNames('k8s.io');
const secret = (name: string) => referenceKey('secret', 'ns', name);

describe('the informer of the graph', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  let heads = 0;
  let canReadHead = true;
  const stop = new AbortController();
  const graph = new NodeGraph();
  let informer: GraphInformer;

  async function put(resource: string, name: string, object: object, namespace = ''): Promise<void> {
    const metadata = namespace === '' ? { name } : { name, namespace };
    await storage.create({ resource, namespace, name }, `${resource}-${name}`, JSON.stringify({ metadata, ...object }));
  }

  function putPod(name: string, node: string): Promise<void> {
    const volumes = [{ name: 'v', secret: { secretName: name } }];
    return put('pods', name, { spec: { nodeName: node, containers: [], volumes } }, 'ns');
  }

  before(async () => {
    postgres = await startTestPostgres();
    storage = await openTestStorage(await postgres.createTestDatabase());
    await putPod('old', 'n1');
    const counted = new Proxy(storage, {
      get: (target, name) => {
        if (name === 'head') {
          return () => {
            heads++;
            return canReadHead ? target.head() : Promise.reject(new Error('not now'));
          };
        }
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }) as unknown as Storage;
    const options = {
      storage: counted,
      registry: new ResourceRegistry(),
      names,
      onFault: () => undefined,
      maxCatchUpMs: 20_000,
    };
    informer = new GraphInformer(options, graph);
    await informer.start(stop.signal);
  });

  after(async () => {
    stop.abort();
    await informer?.stopped();
    await storage?.stop();
    await postgres?.stop();
  });

  it('has all objects at the start', () => {
    assert.equal(graph.refersTo('n1', secret('old')), true);
    assert.equal(informer.lostForMs, 0);
  });

  it('shows everything that was written before it was asked to catch up', async () => {
    await putPod('new', 'n2');
    await put('persistentvolumes', 'pv', {
      spec: { claimRef: { namespace: 'ns', name: 'c' }, rbd: { secretRef: { name: 'of-volume' } } },
    });
    await put('volumeattachments.storage.k8s.io', 'va', { spec: { nodeName: 'n2' } });
    await put('podcertificaterequests.certificates.k8s.io', 'pcr', { spec: { nodeName: 'n2' } }, 'ns');
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    await put('pods', 'with-claim', { spec: { nodeName: 'n2', containers: [], volumes } }, 'ns');
    await informer.catchUp();
    assert.equal(graph.refersTo('n2', secret('new')), true);
    assert.equal(graph.refersTo('n2', secret('of-volume')), true);
    assert.equal(graph.usesVolume('n2', 'pv'), true);
    assert.equal(graph.attachments.isOf('n2', 'va'), true);
    assert.equal(graph.certificateRequests.isOf('n2', 'ns/pcr'), true);
    assert.equal(graph.certificateRequests.isOf('n1', 'ns/pcr'), false);
    const key = { resource: 'pods', namespace: 'ns', name: 'new' };
    await storage.guaranteedUpdate(key, {}, (live) => ({ kind: 'delete', json: live?.json ?? '' }));
    await informer.catchUp();
    assert.equal(graph.refersTo('n2', secret('new')), false);
  });

  it('sees pods come to a node and leave it', async () => {
    const key = { resource: 'pods', namespace: 'ns', name: 'waiting' };
    const volumes = [{ name: 'v', secret: { secretName: 'waiting' } }];
    const text = (node: object) =>
      JSON.stringify({ metadata: { name: 'waiting', namespace: 'ns' }, spec: { ...node, containers: [], volumes } });
    const { uid } = await storage.create(key, 'waiting-uid', text({}));
    const write = async (node: object): Promise<boolean> => {
      await storage.guaranteedUpdate(key, {}, () => ({ kind: 'write', json: text(node), uid }));
      await informer.catchUp();
      return graph.refersTo('n5', secret('waiting'));
    };
    assert.equal(await write({ hostNetwork: true }), false);
    assert.equal(await write({ nodeName: 'n5' }), true);
    assert.equal(await write({ hostNetwork: true }), false);
    assert.equal(await write({ nodeName: '' }), false);
    assert.equal(await write({ nodeName: 'n5' }), true);
  });

  it('knows which pods are on a node, mirror pods too, which give no access to anything', async () => {
    const metadata = { name: 'static', namespace: 'ns', annotations: { 'kubernetes.io/config.mirror': 'x' } };
    const volumes = [{ name: 'v', secret: { secretName: 'of-mirror' } }];
    const text = JSON.stringify({ metadata, spec: { nodeName: 'n6', containers: [], volumes } });
    await storage.create({ resource: 'pods', namespace: 'ns', name: 'static' }, 'static-uid', text);
    await informer.catchUp();
    assert.equal(graph.isPodOn('n6', 'ns', 'static'), true);
    assert.equal(graph.isPodOn('n1', 'ns', 'static'), false);
    assert.equal(graph.isPodOn('n6', 'ns', 'none'), false);
    assert.equal(graph.refersTo('n6', secret('of-mirror')), false);
  });

  it('reads the head of the log at most twice for any number of concurrent questions', async () => {
    heads = 0;
    const asked = Array.from({ length: 100 }, () => informer.catchUp());
    await Promise.all(asked);
    assert.equal(heads, 2);
    await informer.catchUp();
    assert.equal(heads, 3);
  });

  it('never shows less to a later question than to an earlier one', async () => {
    // The second call is made during the first read of the log's head, and after another write.
    const first = informer.catchUp();
    await putPod('later', 'n3');
    await informer.catchUp();
    assert.equal(graph.refersTo('n3', secret('later')), true);
    await first;
  });

  it('continues when the head can not be read', async () => {
    canReadHead = false;
    await informer.catchUp();
    canReadHead = true;
    await putPod('after', 'n4');
    await informer.catchUp();
    assert.equal(graph.refersTo('n4', secret('after')), true);
  });
});
