import type { ApiObject } from '../../../base/machinery/api-object.js';
import { FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { groupName } from '../../../base/machinery/vendor.js';
import { type ResourceClaim, resourceClaim } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import { resourceClaim as resourceClaimV1beta1 } from '../../../objects/apis/resource/v1beta1/resource.types.js';
import { resourceClaim as resourceClaimV1beta2 } from '../../../objects/apis/resource/v1beta2/resource.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { asVersion } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type ServedVersion,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateDeviceClaim } from '../validation/device-claim.validation.js';
import { dropClosedClaimFields } from '../versions/closed-gates.js';
import {
  applyBetaDefaults,
  applyClaimDefaults,
  applyTolerationDefaults,
  type BetaDeviceClaim,
  betaClaim,
  storedClaim,
} from '../versions/v1beta1-claims.js';
import { type ClaimContext, ClaimRules } from './claim-rules.js';
import { claimStatusSubresource } from './claim-status.subresource.js';

const specPath = FieldPath.of('spec');
type BetaResourceClaim = Omit<ResourceClaim, 'spec'> & { spec: { devices: BetaDeviceClaim } } & ApiObject;

const columns: readonly TableColumn<ResourceClaim>[] = [
  nameColumn,
  {
    name: 'State',
    type: 'string',
    description: 'Whether it has its devices, and whether somebody uses them.',
    cell: stateOf,
  },
  ageColumn,
];

/** `resourceclaims`: requests of pods for devices. */
export function resourceClaimResource(context: ClaimContext): ResourceDefinition {
  const rules = new ClaimRules(context);
  return defineResource<ResourceClaim>({
    group: groupName('resource', context.names),
    resource: 'resourceclaims',
    singular: 'resourceclaim',
    kind: 'ResourceClaim',
    namespaced: true,
    versions: [
      { version: 'v1', type: resourceClaim },
      { version: 'v1beta2', type: resourceClaimV1beta2, isOffByDefault: true },
      v1beta1,
    ],
    strategyOptions: { returnsDeletedObject: true },
    strategy: {
      applyDefaults: ({ spec, status }) => {
        applyClaimDefaults(spec.devices);
        applyTolerationDefaults(status?.allocation?.devices.results ?? []);
      },
      authorizeWrite: (request, object, old) => rules.authorize(request, object, old),
      prepareForCreate: (_context, object) => {
        object.status = {};
        dropClosedClaimFields(object.spec.devices);
      },
      prepareForUpdate: (_context, object) => dropClosedClaimFields(object.spec.devices),
      validate: (_context, object) => [
        ...rules.late.of(object),
        ...validateDeviceClaim(object.spec.devices, specPath.child('devices')),
      ],
      validateUpdate: (_context, object, old) =>
        deepEqual(object.spec, old.spec) ? [] : [invalid(specPath, null, 'field is immutable')],
    },
    columns,
    subresources: [claimStatusSubresource(rules)],
  });
}

const v1beta1: ServedVersion = {
  version: 'v1beta1',
  type: resourceClaimV1beta1,
  isOffByDefault: true,
  toStored: (object) => {
    const { spec, ...rest } = object as unknown as BetaResourceClaim;
    return asVersion(resourceClaim, { ...rest, spec: { ...spec, devices: storedClaim(spec.devices) } });
  },
  fromStored: (object) => {
    const { spec, ...rest } = object as ResourceClaim & ApiObject;
    return asVersion(resourceClaimV1beta1, { ...rest, spec: { ...spec, devices: betaClaim(spec.devices) } });
  },
  applyDefaults: (object) => {
    const { spec, status } = object as unknown as BetaResourceClaim;
    applyBetaDefaults(spec.devices);
    applyTolerationDefaults(status?.allocation?.devices.results ?? []);
  },
};

function stateOf({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata?.deletionTimestamp !== undefined;
  const states = isDeleted ? ['deleted'] : [];
  if (status.allocation === undefined) return isDeleted ? 'deleted' : 'pending';
  states.push('allocated');
  if ((status.reservedFor ?? []).length > 0) states.push('reserved');
  return states.join(',');
}
