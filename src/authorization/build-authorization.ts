import type { AuthorizationMode, AuthorizationOptions } from '../config/authorization.options.js';
import type { Authorizer, RuleResolver } from '../machinery/authorizer.js';
import type { Logger } from '../observability/logger.js';
import type { GroupContext } from '../registry/group-context.js';
import { AlwaysAllowAuthorizer, AlwaysDenyAuthorizer } from './always.authorizer.js';
import { UnionAuthorizer } from './union.js';

/** What modules decide with. */
export interface AuthorizationParts extends Pick<GroupContext, 'storage' | 'registry' | 'names' | 'clock'> {
  readonly logger: Logger;
}

/** The configured modules, in order. */
export interface Authorization {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  /** Fills what modules keep in memory; once all resources are registered. They follow the store until the abort. */
  start(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing runs any more after the abort. */
  stopped(): Promise<void>;
}

const always: Readonly<Record<AuthorizationMode, () => Authorizer>> = {
  AlwaysAllow: () => new AlwaysAllowAuthorizer(),
  AlwaysDeny: () => new AlwaysDenyAuthorizer(),
};

/** Sets up the modules of `--authorization-mode` (specification 5.4). */
export function buildAuthorization(options: AuthorizationOptions, _parts: AuthorizationParts): Authorization {
  const modules = options.authorizationMode.map((mode) => always[mode]());
  const unknown = { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError: '' };
  return {
    authorizer: modules.length === 1 ? (modules[0] as Authorizer) : new UnionAuthorizer(modules),
    rules: { rulesFor: () => unknown },
    start: async () => undefined,
    stopped: async () => undefined,
  };
}
