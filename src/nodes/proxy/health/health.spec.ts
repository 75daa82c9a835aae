import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { ProxyMetrics } from '../proxy-metrics.js';
import { startHealthServer } from '../proxy-servers.js';
import { ProxyHealth } from './proxy-health.js';
import { ServiceHealth } from './service-health.js';

const address = '127.0.0.1';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function page(port: number, path: string) {
  return await new Promise<{ status: number | undefined; body: Record<string, unknown>; weight: unknown }>(
    (resolve, reject) => {
      get({ host: address, port, path, agent: false }, (response) => {
        const weight = response.headers['x-load-balancing-endpoint-weight'];
        void text(response).then(
          (body) => resolve({ status: response.statusCode, body: JSON.parse(body), weight }),
          reject,
        );
      }).on('error', reject);
    },
  );
}

describe('the health of a proxy', () => {
  it('is bad when a change waits for too long, and not good for load balancers on a node that goes away', async () => {
    const state = { now: 1_000 };
    const health = new ProxyHealth({ now: () => state.now }, 10_000);
    const metrics = new ProxyMetrics(['IPv4']);
    const port = await freePort();
    const server = await startHealthServer({ address, port }, health, metrics);
    try {
      health.updated('IPv4');
      assert.equal((await page(port, '/livez')).status, 200);
      const unknown = await page(port, '/healthz');
      assert.deepEqual([unknown.status, unknown.body.healthy, unknown.body.nodeEligible], [503, true, false]);
      const node = { metadata: { name: 'here' }, spec: {} } as unknown as Node;
      health.useNode(node);
      assert.equal((await page(port, '/healthz')).status, 200);
      const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }];
      health.useNode({ ...node, spec: { taints } } as unknown as Node);
      assert.equal((await page(port, '/healthz')).status, 503);
      health.useNode(node);
      health.queued('IPv4');
      state.now += 9_999;
      health.queued('IPv4');
      assert.equal((await page(port, '/healthz')).status, 200);
      state.now += 1;
      const late = await page(port, '/livez');
      assert.equal(late.status, 503);
      assert.deepEqual(late.body.status, {
        IPv4: { lastUpdated: new Date(1_000).toISOString(), healthy: false },
      });
      health.updated('IPv4');
      assert.equal((await page(port, '/livez')).status, 200);
      assert.match(await metrics.registry.metrics(), /kubeproxy_proxy_livez_total\{code="503"\} 1/);
    } finally {
      await server.stop();
    }
  });

  it('answers for each service on its port as long as the service has one', async () => {
    const state = { healthy: true };
    const health = new ServiceHealth({
      logger: new Logger('error', 'text', () => undefined),
      addresses: () => [address],
      isProxyHealthy: () => state.healthy,
    });
    const [first, second] = [await freePort(), await freePort()];
    try {
      await health.set('web/shop', { port: first, endpoints: 2 });
      const found = await page(first, '/');
      assert.deepEqual([found.status, found.weight], [200, '2']);
      assert.deepEqual(found.body, {
        service: { namespace: 'web', name: 'shop' },
        localEndpoints: 2,
        serviceProxyHealthy: true,
      });
      await health.set('web/shop', { port: first, endpoints: 0 });
      assert.equal((await page(first, '/')).status, 503);
      await health.set('web/shop', { port: second, endpoints: 1 });
      await assert.rejects(page(first, '/'), /ECONNREFUSED/);
      state.healthy = false;
      assert.equal((await page(second, '/')).status, 503);
      await health.set('web/shop', undefined);
      await assert.rejects(page(second, '/'), /ECONNREFUSED/);
    } finally {
      await health.stop();
    }
  });
});
