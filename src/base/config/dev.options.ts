import { Check } from './check.js';
import { Flag } from './flag.js';

/** The single-machine set-up of `plinth dev`. */
export class DevOptions {
  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the embedded database, the generated certificates and the admin kubeconfig.',
  })
  readonly dataDir: string = '.plinth';

  @Flag({
    name: 'postgres-port',
    type: 'int',
    unit: 'port',
    usage:
      'Port of 127.0.0.1 on which roles of your own log in to the embedded database; 0: none. ' +
      'Unset: any, the same at every start; postgres.json in --data-dir says which.',
  })
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
    name: 'console-port',
    type: 'int',
    unit: 'port',
    usage: 'Port of 127.0.0.1 for the console, a web page; 0: none. Unset: 6480, or any when that is taken.',
  })
  @Check<number>('port', (value) => (value >= 0 && value <= 65535 ? undefined : 'must be between 0 and 65535'))
  readonly consolePort: number | undefined = undefined;
}
