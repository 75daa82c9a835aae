import { Min } from 'class-validator';
import { Flag } from './flag.js';

/** How a node agent reaches the API, and how often (specification 8). */
export class AgentApiOptions {
  @Flag({
    name: 'kubeconfig',
    type: 'string',
    unit: 'file',
    usage:
      'API server and credentials of the node. With --bootstrap-kubeconfig the agent writes it, with the certificate that ' +
      'it has asked for.',
  })
  readonly kubeconfig: string | undefined = undefined;

  @Flag({
    name: 'kube-api-qps',
    type: 'int',
    unit: 'requests/s',
    usage: 'Requests to the API each second. 0: no limit.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly kubeApiQps: number = 5;

  @Flag({
    name: 'kube-api-burst',
    type: 'int',
    unit: 'requests',
    usage: 'Requests to the API that may be made at once.',
  })
  @Min(1, { message: 'must be 1 or more' })
  readonly kubeApiBurst: number = 10;
}
