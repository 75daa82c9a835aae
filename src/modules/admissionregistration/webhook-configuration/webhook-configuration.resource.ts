import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type { KindType } from '../../../base/machinery/schema/index.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type MutatingWebhookConfiguration,
  mutatingWebhookConfiguration,
  type ValidatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from '../../../objects/apis/admissionregistration/v1/webhook-configuration.types.js';
import {
  mutatingWebhookConfiguration as mutatingV1beta1,
  validatingWebhookConfiguration as validatingV1beta1,
} from '../../../objects/apis/admissionregistration/v1beta1/webhook-configuration.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { deprecation } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type ServedVersion,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { applyV1beta1WebhookDefaults, applyV1Defaults } from './webhook.defaults.js';
import {
  strictRules,
  tolerantRules,
  validateWebhooks,
  validateWebhooksUpdate,
  type Webhook,
  type WebhookRules,
} from './webhook.validation.js';

type AnyConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

const columns: readonly TableColumn<AnyConfiguration>[] = [
  nameColumn,
  {
    name: 'Webhooks',
    type: 'integer',
    description: 'Number of webhooks.',
    cell: (object) => (object.webhooks ?? []).length,
  },
  ageColumn,
];

/** `mutatingwebhookconfigurations`: webhooks that may change objects before they are written. */
export function mutatingWebhookConfigurationResource(names: VendorNames): ResourceDefinition {
  return defineResource<MutatingWebhookConfiguration>({
    ...shared(names),
    resource: 'mutatingwebhookconfigurations',
    singular: 'mutatingwebhookconfiguration',
    kind: 'MutatingWebhookConfiguration',
    versions: [
      { version: 'v1', type: mutatingWebhookConfiguration },
      betaVersion(mutatingV1beta1, true, names, 'MutatingWebhookConfiguration'),
    ],
    strategy: webhookStrategy<MutatingWebhookConfiguration>(true),
    columns,
  });
}

/** `validatingwebhookconfigurations`: webhooks that may refuse objects. */
export function validatingWebhookConfigurationResource(names: VendorNames): ResourceDefinition {
  return defineResource<ValidatingWebhookConfiguration>({
    ...shared(names),
    resource: 'validatingwebhookconfigurations',
    singular: 'validatingwebhookconfiguration',
    kind: 'ValidatingWebhookConfiguration',
    versions: [
      { version: 'v1', type: validatingWebhookConfiguration },
      betaVersion(validatingV1beta1, false, names, 'ValidatingWebhookConfiguration'),
    ],
    strategy: webhookStrategy<ValidatingWebhookConfiguration>(false),
    columns,
  });
}

function shared(names: VendorNames) {
  return {
    group: groupName('admissionregistration', names),
    namespaced: false,
    categories: ['api-extensions'],
    strategyOptions: {
      plainFinalizers: true,
      allowUnconditionalUpdate: false,
      generation: (object: AnyConfiguration) => object.webhooks,
    },
  } as const;
}

function betaVersion(type: KindType, isMutating: boolean, names: VendorNames, kind: string): ServedVersion {
  const group = groupName('admissionregistration', names);
  return {
    version: 'v1beta1',
    type,
    applyDefaults: (object) => applyV1beta1WebhookDefaults(object.webhooks as Webhook[] | undefined, isMutating),
    deprecated: deprecation({ group, version: 'v1beta1', kind, since: '1.16', removed: '1.22', replacement: 'v1' }),
  };
}

function webhookStrategy<T extends AnyConfiguration & ApiObject>(isMutating: boolean): Strategy<T> {
  return {
    applyDefaults: (object) => applyV1Defaults(object.webhooks as Webhook[] | undefined, isMutating),
    validate: (context, object) => validateWebhooks(object.webhooks as Webhook[] | undefined, rulesOf(context)),
    validateUpdate: (context, object, old) =>
      validateWebhooksUpdate(
        object.webhooks as Webhook[] | undefined,
        old.webhooks as Webhook[] | undefined,
        rulesOf(context),
      ),
  };
}

function rulesOf(context: RequestContext): WebhookRules {
  return context.requestInfo.apiVersion === 'v1beta1' ? tolerantRules : strictRules;
}
