import type { KindType } from '../../base/machinery/schema/index.js';
import {
  nodeProxyOptions,
  podProxyOptions,
  serviceProxyOptions,
} from '../../objects/apis/core/v1/request-options.types.js';
import type { ConnectSubresource } from '../../objects/registry/subresource-definition.js';

function proxyPath(options: KindType): ConnectSubresource {
  return {
    type: 'connect',
    name: 'proxy',
    target: 'proxy',
    body: { kind: options.kind, type: options },
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    parameters: [],
  };
}

/** `proxy` of nodes, pods and services: the rest of the path is requested from the server that runs there. */
export const nodeProxyPath = proxyPath(nodeProxyOptions);
export const podProxyPath = proxyPath(podProxyOptions);
export const serviceProxyPath = proxyPath(serviceProxyOptions);
