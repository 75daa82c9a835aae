import { AdmissionOptions } from './admission.options.js';
import { AggregationOptions } from './aggregation.options.js';
import { ApiOptions } from './api.options.js';
import { AuditOptions } from './audit.options.js';
import { AuthenticationOptions } from './authentication.options.js';
import { AuthorizationOptions } from './authorization.options.js';
import { AutoscalerOptions } from './autoscaler.options.js';
import { ClusterOptions } from './cluster.options.js';
import { ControlLoopOptions } from './control-loop.options.js';
import { DebuggingOptions } from './debugging.options.js';
import { EventOptions } from './event.options.js';
import { LoggingOptions } from './logging.options.js';
import { NodeAgentOptions } from './node-agent.options.js';
import { NodeIpamOptions } from './node-ipam.options.js';
import { NodeLoopOptions } from './node-loop.options.js';
import type { ParsedOptions } from './parse-options.js';
import { ProxyPathOptions } from './proxy-path.options.js';
import { SecureServingOptions } from './secure-serving.options.js';
import { StorageOptions } from './storage.options.js';
import { TracingOptions } from './tracing.options.js';

/** The options of a process that serves the API, by concern. */
export const serverOptionGroups = {
  secureServing: SecureServingOptions,
  storage: StorageOptions,
  authentication: AuthenticationOptions,
  authorization: AuthorizationOptions,
  admission: AdmissionOptions,
  audit: AuditOptions,
  aggregation: AggregationOptions,
  nodeAgents: NodeAgentOptions,
  proxyPaths: ProxyPathOptions,
  api: ApiOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
  debugging: DebuggingOptions,
  tracing: TracingOptions,
} as const;

/** The options of a process that runs the control loops, by concern. */
export const controllerOptionGroups = {
  controllers: ControlLoopOptions,
  events: EventOptions,
  nodeLoops: NodeLoopOptions,
  nodeIpam: NodeIpamOptions,
  autoscaler: AutoscalerOptions,
} as const;

/** The options of the control loops, wherever they run. */
export type ControllersSettings = ParsedOptions<typeof controllerOptionGroups>;

type Parsed = ParsedOptions<typeof serverOptionGroups>;

/** The complete options of a serving process, with the database and the serving certificate resolved. */
export interface ServerOptions extends Omit<Parsed, 'secureServing' | 'storage'> {
  readonly secureServing: Parsed['secureServing'] & {
    readonly tlsCertFile: string;
    readonly tlsPrivateKeyFile: string;
  };
  readonly storage: Parsed['storage'] & { readonly databaseUrl: string };
}
