import { Check } from './check.js';
import { Flag } from './flag.js';
import { postgresPortFlag } from './shared-flags.js';

/** The single-machine set-up of `plinth dev`. */
export class DevOptions {
  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the embedded database, the generated certificates and the admin kubeconfig.',
  })
  readonly dataDir: string = '.plinth';

  @Flag(postgresPortFlag)
  @Check<number>('port', (value) => (value >= 0 && value <= 65535 ? undefined : 'must be between 0 and 65535'))
  readonly postgresPort: number | undefined = undefined;

  @Flag({
    name: 'simulated-nodes',
    type: 'int',
    unit: 'nodes',
    usage:
      'How many nodes to simulate, which pretend to run pods. Unless the flags say otherwise, the authorization modes are ' +
      'then Node and RBAC, with NodeRestriction.',
  })
  @Check<number>('count', (value) => (value >= 0 && value <= 10_000 ? undefined : 'must be between 0 and 10000'))
  readonly simulatedNodes: number = 0;

  @Flag({
    name: 'node',
    type: 'bool',
    usage:
      'Run pods on this machine in real containers: with a containerd of its own, the agent of the node, the proxy for services and ' +
      'a name server. Needs root, containerd and network plugins; where they are missing, --simulated-nodes takes its place if ' +
      'both are given. The server then listens on all addresses, unless --bind-address says otherwise.',
  })
  readonly node: boolean = false;

  @Flag({
    name: 'pod-infra-container-image',
    type: 'string',
    unit: 'image',
    usage: 'The image that holds the namespaces of a pod, with --node. It is pulled when the first pod starts.',
  })
  readonly podInfraContainerImage: string = 'registry.k8s.io/pause:3.10';

  @Flag({
    name: 'console-port',
    type: 'int',
    unit: 'port',
    usage: 'Port of 127.0.0.1 for the console, a web page; 0: none. Unset: 6480, or any when that is taken.',
  })
  @Check<number>('port', (value) => (value >= 0 && value <= 65535 ? undefined : 'must be between 0 and 65535'))
  readonly consolePort: number | undefined = undefined;
}
