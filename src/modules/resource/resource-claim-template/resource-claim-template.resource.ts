import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { groupName } from '../../../base/machinery/vendor.js';
import { validateTemplateMetadata } from '../../../objects/apis/core/v1/validation/template-metadata.validation.js';
import {
  type ResourceClaimTemplate,
  resourceClaimTemplate,
} from '../../../objects/apis/resource/v1/resource-claim.types.js';
import { resourceClaimTemplate as resourceClaimTemplateV1beta1 } from '../../../objects/apis/resource/v1beta1/resource.types.js';
import { resourceClaimTemplate as resourceClaimTemplateV1beta2 } from '../../../objects/apis/resource/v1beta2/resource.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { asVersion } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type ServedVersion,
} from '../../../objects/registry/resource-definition.js';
import { type ClaimContext, ClaimRules } from '../resource-claim/claim-rules.js';
import { validateDeviceClaim } from '../validation/device-claim.validation.js';
import { dropClosedClaimFields } from '../versions/closed-gates.js';
import {
  applyBetaDefaults,
  applyClaimDefaults,
  type BetaDeviceClaim,
  betaClaim,
  storedClaim,
} from '../versions/v1beta1-claims.js';

const specPath = FieldPath.of('spec');
type BetaTemplate = Omit<ResourceClaimTemplate, 'spec'> & { spec: { spec: { devices: BetaDeviceClaim } } };

/** `resourceclaimtemplates`: templates of claims that are made for single pods. */
export function resourceClaimTemplateResource(context: ClaimContext): ResourceDefinition {
  const rules = new ClaimRules(context);
  return defineResource<ResourceClaimTemplate & ApiObject>({
    group: groupName('resource', context.names),
    resource: 'resourceclaimtemplates',
    singular: 'resourceclaimtemplate',
    kind: 'ResourceClaimTemplate',
    namespaced: true,
    versions: [
      { version: 'v1', type: resourceClaimTemplate },
      { version: 'v1beta2', type: resourceClaimTemplateV1beta2, isOffByDefault: true },
      v1beta1,
    ],
    strategyOptions: { returnsDeletedObject: true },
    strategy: {
      applyDefaults: ({ spec }) => applyClaimDefaults(spec.spec.devices),
      authorizeWrite: async (_request, object, old) => {
        if (old === undefined) await rules.authorizeSpec(object, object.spec.spec.devices);
      },
      prepareForCreate: (_context, { spec }) => dropClosedClaimFields(spec.spec.devices),
      prepareForUpdate: (_context, { spec }) => dropClosedClaimFields(spec.spec.devices),
      validate: (_context, object) => [...rules.late.of(object), ...validateTemplate(object)],
      validateUpdate: (_context, object, old) =>
        deepEqual(object.spec, old.spec)
          ? []
          : [...validateTemplate(object), invalid(specPath, object.spec, 'field is immutable')],
    },
    columns: [nameColumn, ageColumn],
  });
}

function validateTemplate({ spec }: ResourceClaimTemplate): FieldError[] {
  return [
    ...validateTemplateMetadata(spec.metadata ?? {}, specPath.child('metadata')),
    ...validateDeviceClaim(spec.spec.devices, specPath.child('spec').child('devices')),
  ];
}

const v1beta1: ServedVersion = {
  version: 'v1beta1',
  type: resourceClaimTemplateV1beta1,
  isOffByDefault: true,
  toStored: (object) => {
    const { spec, ...rest } = object as unknown as BetaTemplate;
    const inner = { ...spec.spec, devices: storedClaim(spec.spec.devices) };
    return asVersion(resourceClaimTemplate, { ...rest, spec: { ...spec, spec: inner } });
  },
  fromStored: (object) => {
    const { spec, ...rest } = object as unknown as ResourceClaimTemplate;
    const inner = { ...spec.spec, devices: betaClaim(spec.spec.devices) };
    return asVersion(resourceClaimTemplateV1beta1, { ...rest, spec: { ...spec, spec: inner } });
  },
  applyDefaults: (object) => applyBetaDefaults((object as unknown as BetaTemplate).spec.spec.devices),
};
