import type { Registry } from 'prom-client';
import type { AuthorizationMode, AuthorizationOptions } from '../../base/config/authorization.options.js';
import { DocumentError } from '../../base/config/document-error.js';
import { readDocumentFile } from '../../base/config/document-fields.js';
import type { Authorizer, RuleResolver } from '../../base/machinery/authorizer.js';
import type { Clock } from '../../base/machinery/clock.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { ReloadMetrics } from '../../base/observability/reload-metrics.js';
import type { StoredResources } from '../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import type { Storage } from '../../storage/storage.interface.js';
import { abacMode } from './abac/abac-mode.js';
import { AlwaysAllowAuthorizer } from './always-allow.authorizer.js';
import { AlwaysDenyAuthorizer } from './always-deny.authorizer.js';
import { readAuthorizationConfiguration } from './configuration/authorization-document.js';
import { AuthorizerMetrics } from './configuration/authorizer-metrics.js';
import { LiveAuthorization } from './configuration/live-authorization.js';
import type { ConfiguredMode, ModeHealthCheck } from './configured-mode.js';
import { nodeMode } from './node/node-mode.js';
import { PrivilegedGroupAuthorizer } from './privileged-group.authorizer.js';
import { rbacMode } from './rbac/rbac-mode.js';
import { UnionAuthorizer } from './union.authorizer.js';
import { UnionRuleResolver } from './union-rule-resolver.js';
import { webhookMode } from './webhook/webhook-mode.js';

/** Dependencies of the authorizers. */
export interface AuthorizationDependencies {
  readonly storage: Storage;
  readonly registry: StoredResources;
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** The name of this process, for metrics. */
  readonly processId: string;
}

/** Injection token of the {@link Authorization}. */
export const AUTHORIZATION = Symbol('Authorization');

/** The configured modes, in order. */
export interface Authorization {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  /** The modes in force, in order. */
  readonly modes: readonly AuthorizationMode[];
  /**
   * Fills the in-memory state of the authorizers; call it once all resources are registered. The authorizers follow the store
   * until the signal is aborted.
   */
  start(signal: AbortSignal): Promise<void>;
  /**
   * Writes the objects that the authorizers need in a new cluster; call it once the system's namespaces exist. Stops when
   * the signal is aborted.
   */
  prepare(stores: ResourceStores, signal: AbortSignal): Promise<void>;
  /** Resolves when all background work has ended after the signal is aborted. */
  stopped(): Promise<void>;
  readonly healthChecks: readonly ModeHealthCheck[];
}

type ModuleFactory = (options: AuthorizationOptions, dependencies: AuthorizationDependencies) => ConfiguredMode;

const factories: Readonly<Record<AuthorizationMode, ModuleFactory>> = {
  AlwaysAllow: () => fixed(new AlwaysAllowAuthorizer()),
  AlwaysDeny: () => fixed(new AlwaysDenyAuthorizer()),
  ABAC: (options, parts) => abacMode(settled(options.authorizationPolicyFile), parts),
  Webhook: (options, parts) => {
    const settings = {
      configFile: settled(options.authorizationWebhookConfigFile),
      version: options.authorizationWebhookVersion,
      authorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtl,
      unauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtl,
    };
    return webhookMode(settings, parts);
  },
  RBAC: (_options, parts) => rbacMode(parts),
  Node: (_options, parts) => nodeMode(parts),
};

/** The option of a mode; the options check has ensured that it is set. */
function settled(value: string | undefined): string {
  if (value === undefined) throw new Error('an authorization mode lacks its option');
  return value;
}

function fixed(authorizer: Authorizer & RuleResolver): ConfiguredMode {
  return { authorizer, rules: authorizer };
}

/**
 * Sets up the authorizers of `--authorization-mode` (specification 5.4). If any of them decides by a policy, an authorizer
 * before it allows everything to members of `system:masters`.
 */
export function buildAuthorization(
  options: AuthorizationOptions,
  dependencies: AuthorizationDependencies,
): Authorization {
  if (options.authorizationConfig !== undefined)
    return buildConfigured(options.authorizationConfig, options, dependencies);
  const modes = options.authorizationMode;
  const configured = modes.map((mode) => factories[mode](options, dependencies));
  const counters = new AuthorizerMetrics(dependencies.metrics);
  const authorizers = configured.map(({ authorizer }, i) => {
    const mode = modes[i] as AuthorizationMode;
    return counters.counted(mode, mode === 'Webhook' ? 'default' : mode.toLowerCase(), authorizer);
  });
  const hasPolicy = modes.some((mode) => mode !== 'AlwaysAllow' && mode !== 'AlwaysDeny');
  if (hasPolicy) authorizers.unshift(new PrivilegedGroupAuthorizer());
  const [only, ...others] = authorizers;
  return {
    authorizer: only !== undefined && others.length === 0 ? only : new UnionAuthorizer(authorizers),
    rules: new UnionRuleResolver(configured.map(({ rules }) => rules)),
    modes,
    ...lifeOf(configured),
  };
}

/** The modes of `--authorization-config`. @throws StartupError with all problems of the file. */
function buildConfigured(
  file: string,
  options: AuthorizationOptions,
  dependencies: AuthorizationDependencies,
): Authorization {
  try {
    const live = new LiveAuthorization(file, {
      ...dependencies,
      metrics: new AuthorizerMetrics(dependencies.metrics),
      reloads: new ReloadMetrics(dependencies.metrics, 'authorization', dependencies.processId),
      load: () => {
        const entries = readAuthorizationConfiguration(readDocumentFile(file), dependencies.names.suffix);
        if (options.authorizationPolicyFile === undefined && entries.some(({ type }) => type === 'ABAC')) {
          throw new DocumentError(['authorizers: the type ABAC needs --authorization-policy-file']);
        }
        return entries;
      },
      mode: (type) => factories[type](options, dependencies),
    });
    const life = lifeOf([...live.modes.values()]);
    return {
      ...life,
      authorizer: live,
      rules: live,
      get modes() {
        return live.types;
      },
      start: async (signal) => {
        live.start(signal);
        await life.start(signal);
      },
      stopped: async () => {
        await live.stopped();
        await life.stopped();
      },
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new StartupError(error.problems.map((problem) => `--authorization-config ${file}: ${problem}`).join('; '));
  }
}

/** Starts and stops the background work of all modes. */
function lifeOf(
  configured: readonly ConfiguredMode[],
): Pick<Authorization, 'start' | 'prepare' | 'stopped' | 'healthChecks'> {
  return {
    start: async (signal) => {
      await Promise.all(configured.map((mode) => mode.start?.(signal)));
    },
    prepare: async (stores, signal) => {
      await Promise.all(configured.map((mode) => mode.prepare?.(stores, signal)));
    },
    stopped: async () => {
      await Promise.all(configured.map((mode) => mode.stopped?.()));
    },
    healthChecks: configured.flatMap(({ healthChecks = [] }) => healthChecks),
  };
}
