import type { ApiObject } from '../../base/machinery/api-object.js';
import { wholeQuantity } from '../../base/machinery/values/quantity.js';
import type { Service } from '../apis/core/v1/service.types.js';
import type { UsageEvaluator } from './usage-evaluator.js';

const measured: ReadonlySet<string> = new Set([
  'services',
  'count/services',
  'services.nodeports',
  'services.loadbalancers',
]);

/** Usage of services: the services, their load balancers, and a node port for each of their ports. */
export const serviceUsage: UsageEvaluator = {
  measures: (name) => measured.has(name),

  usage(object) {
    const { type, ports = [], allocateLoadBalancerNodePorts } = (object as Service & ApiObject).spec;
    const isBalanced = type === 'LoadBalancer';
    let nodePorts = 0;
    if (type === 'NodePort' || isBalanced) {
      const takesAll = !isBalanced || allocateLoadBalancerNodePorts !== false;
      nodePorts = takesAll
        ? ports.length
        : ports.filter(({ nodePort }) => nodePort !== undefined && nodePort !== 0).length;
    }
    return new Map([
      ['services', wholeQuantity(1)],
      ['count/services', wholeQuantity(1)],
      ['services.nodeports', wholeQuantity(nodePorts)],
      ['services.loadbalancers', wholeQuantity(isBalanced ? 1 : 0)],
    ]);
  },

  mayRiseBy: (subresource) => subresource === '',
};
