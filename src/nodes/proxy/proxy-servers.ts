import { type PlainAnswer, PlainServer } from '../connection/plain-server.js';
import type { ProxyHealth } from './health/proxy-health.js';
import type { ProxyMetrics } from './proxy-metrics.js';
import type { ListenAddress } from './proxy-options.js';

const notFound: PlainAnswer = { status: 404, body: '404 page not found\n' };
const json = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };

/** The pages for load balancers: whether the node accepts packets, and whether the proxy works. */
export function startHealthServer(
  place: ListenAddress,
  health: ProxyHealth,
  metrics: ProxyMetrics,
): Promise<PlainServer> {
  return PlainServer.start(place, (path) => {
    if (path !== '/healthz' && path !== '/livez') return notFound;
    const isHealthz = path === '/healthz';
    const nodeEligible = health.isNodeEligible;
    const isGood = health.isHealthy && (nodeEligible || !isHealthz);
    const status = isGood ? 200 : 503;
    (isHealthz ? metrics.healthz : metrics.livez).inc({ code: String(status) });
    const document = { ...health.document(isGood), ...(isHealthz ? { nodeEligible } : {}) };
    return { status, headers: json, body: JSON.stringify(document) };
  });
}

/** The pages for monitoring. */
export function startMetricsServer(place: ListenAddress, metrics: ProxyMetrics, mode: string): Promise<PlainServer> {
  return PlainServer.start(place, async (path) => {
    if (path === '/healthz') return { status: 200, body: 'ok' };
    if (path === '/proxyMode') return { status: 200, body: mode };
    if (path !== '/metrics') return notFound;
    const { registry } = metrics;
    return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() };
  });
}
