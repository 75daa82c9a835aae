import { AdmissionOptions } from './admission.options.js';
import { ApiOptions } from './api.options.js';
import { AuthenticationOptions } from './authentication.options.js';
import { AuthorizationOptions } from './authorization.options.js';
import { ClusterOptions } from './cluster.options.js';
import { ControlLoopOptions } from './controllers.options.js';
import { EventOptions } from './event.options.js';
import { LoggingOptions } from './logging.options.js';
import type { ParsedOptions } from './parse-options.js';
import { SecureServingOptions } from './secure-serving.options.js';
import { StorageOptions } from './storage.options.js';

/** Concerns of a process that serves the API. */
export const serverOptionGroups = {
  secureServing: SecureServingOptions,
  storage: StorageOptions,
  authentication: AuthenticationOptions,
  authorization: AuthorizationOptions,
  admission: AdmissionOptions,
  api: ApiOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
} as const;

/** Concerns of a process that runs the control loops. */
export const controllerOptionGroups = { controllers: ControlLoopOptions, events: EventOptions } as const;

/** What the control loops are told, wherever they run. */
export type ControllersSettings = ParsedOptions<typeof controllerOptionGroups>;

type Parsed = ParsedOptions<typeof serverOptionGroups>;

/** Everything a serving process is told, complete: the database and the serving certificate are settled. */
export interface ServerOptions extends Omit<Parsed, 'secureServing' | 'storage'> {
  readonly secureServing: Parsed['secureServing'] & {
    readonly tlsCertFile: string;
    readonly tlsPrivateKeyFile: string;
  };
  readonly storage: Parsed['storage'] & { readonly databaseUrl: string };
}
