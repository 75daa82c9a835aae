import Fastify, { type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { Logger } from '../../src/base/observability/logger.js';
import { Metrics } from '../../src/base/observability/metrics.js';
import { metaKinds } from '../../src/objects/apis/meta/v1/meta-kinds.js';
import { AdmissionChain } from '../../src/server/admission/admission-chain.js';
import { AdmissionMetrics } from '../../src/server/admission/admission-metrics.js';
import type { AdmissionPlugin } from '../../src/server/admission/admission-plugin.js';
import { RequestAdmission } from '../../src/server/admission/request-admission.js';
import { EndpointServices } from '../../src/server/endpoints/endpoint-services.js';
import { leaveBodies } from '../../src/server/endpoints/listener.js';
import { HttpRequestContext } from '../../src/server/endpoints/request-info/http-request-context.js';
import { handleResource } from '../../src/server/endpoints/resource-handler.js';
import { StatusFilter } from '../../src/server/endpoints/status.filter.js';
import type { Storage } from '../../src/storage/storage.interface.js';
import { testNames } from './definition-tester.js';
import { registeredGroups } from './registered-groups.js';

/**
 * Answers requests for the built-in kinds on a real store, with the part of the program behind the guards. `alice`
 * sends all requests and may do everything; admission is a single plugin of the test.
 */
export async function resourceServer(storage: Storage, plugin: AdmissionPlugin): Promise<FastifyInstance> {
  const stores = await registeredGroups(storage);
  const options = {
    maxBodyBytes: 1 << 20,
    minRequestTimeoutSeconds: 1,
    maxConnectionBytesPerSecond: 0,
    shutdown: new AbortController().signal,
    listPageSize: 10,
    deleteCollectionWorkers: 8,
    garbageCollector: false,
  };
  const admission = new RequestAdmission(new AdmissionChain([plugin], new AdmissionMetrics(new Registry())), {
    authorize: () => ({ decision: 'allow', reason: '' }),
  });
  const services = new EndpointServices(stores, testNames, new Metrics(), options, metaKinds, { admission });
  services.continueTokens.useKey(Buffer.alloc(32));
  const filter = new StatusFilter(new Logger('error'), services);
  const server = Fastify();
  leaveBodies(server);
  server.decorateRequest('plinthContext', undefined);
  server.addHook('onRequest', async (request) => {
    const context = new HttpRequestContext(request);
    context.user = { name: 'alice', uid: '', groups: [], extra: {} };
    request.plinthContext = context;
  });
  server.all('/*', (request, reply) =>
    handleResource(services, request, reply).catch((error: unknown) => filter.answer(error, request, reply)),
  );
  return server;
}
