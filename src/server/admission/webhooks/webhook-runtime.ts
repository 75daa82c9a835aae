import { parseServiceAddresses } from '../../../base/config/admission-webhook.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { groupName } from '../../../base/machinery/vendor.js';
import { ClientConfigError } from '../../../base/outgoing/client-config-error.js';
import { type ClientUsers, loadClientUsers } from '../../../base/outgoing/client-users.js';
import { DeniedAddresses } from '../../../base/outgoing/denied-addresses.js';
import type { WebhookTransport } from '../../../base/outgoing/review-client.js';
import { type ServiceResolver, sharedServiceResolver } from '../../../base/outgoing/service-resolver.js';
import type { AdmissionDependencies } from '../admission-dependencies.js';
import { ResourceVersions } from '../matching/resource-versions.js';
import { WebhookCompiler, type WebhookConfiguration } from './admission-webhook.js';
import type { WebhookKind } from './review-answer.js';
import { readClientConfigFile } from './webhook-admission-configuration.js';
import { WebhookCaller } from './webhook-caller.js';
import { WebhookList } from './webhook-list.js';

/** The dependencies of a plugin for hooks of one kind. */
export interface WebhookRuntime {
  readonly hooks: WebhookList;
  readonly caller: WebhookCaller;
  readonly versions: ResourceVersions;
  /** Served names of the groups `admission` and `admissionregistration`. */
  readonly reviewGroup: string;
  readonly configurationGroup: string;
}

/** The objects that both plugins share. */
interface Shared {
  readonly caller: WebhookCaller;
  readonly versions: ResourceVersions;
  readonly services: ServiceResolver;
  readonly denied: DeniedAddresses;
}

const sharedByParts = new WeakMap<object, Shared>();

/**
 * Sets up a plugin for hooks. Throws an OptionsError for a faulty configuration of the plugin (kind
 * WebhookAdmissionConfiguration).
 */
export function webhookRuntime(plugin: string, kind: WebhookKind, dependencies: AdmissionDependencies): WebhookRuntime {
  const { names, countingListers, namespaces, authorizer } = dependencies;
  const configurationGroup = groupName('admissionregistration', names);
  const shared = sharedByParts.get(dependencies.listers) ?? share(dependencies);
  const transport: WebhookTransport = {
    services: shared.services,
    denied: shared.denied,
    users: usersOf(plugin, dependencies),
  };
  const { caller, versions } = shared;
  const configurations = countingListers.counting(
    { group: configurationGroup, resource: `${kind}webhookconfigurations` },
    (object) => object as WebhookConfiguration,
  );
  return {
    hooks: new WebhookList(configurations, new WebhookCompiler(kind, { namespaces, versions, authorizer, transport })),
    caller,
    versions,
    reviewGroup: groupName('admission', names),
    configurationGroup,
  };
}

function share({ names, listers, registry, options, logger, hookCalls }: AdmissionDependencies): Shared {
  const { webhookServiceResolver, webhookServiceAddresses, webhookDeniedCidrs } = options;
  const shared: Shared = {
    caller: new WebhookCaller({
      metrics: hookCalls,
      logger,
      group: groupName('admission', names),
    }),
    versions: new ResourceVersions(registry),
    services: sharedServiceResolver(
      webhookServiceResolver,
      parseServiceAddresses(webhookServiceAddresses),
      listers,
      names,
    ),
    denied: new DeniedAddresses(webhookDeniedCidrs),
  };
  sharedByParts.set(listers, shared);
  return shared;
}

function usersOf(plugin: string, { configuration, names }: AdmissionDependencies): ClientUsers | undefined {
  const given = configuration.of(plugin);
  const file = given === undefined ? undefined : readClientConfigFile(given, names);
  if (file === undefined) return undefined;
  try {
    return loadClientUsers(file);
  } catch (error) {
    if (!(error instanceof ClientConfigError)) throw error;
    throw new OptionsError([error.message]);
  }
}
