import { type FieldError, FieldPath, forbidden, invalid, notSupported } from '../../../base/machinery/field-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type Lease, lease } from '../../../objects/apis/coordination/v1/lease.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';

const specPath = FieldPath.of('spec');
const strategies = ['OldestEmulationVersion'];

const columns: readonly TableColumn<Lease>[] = [
  nameColumn,
  {
    name: 'Holder',
    type: 'string',
    description: 'Who holds the lease now.',
    cell: (object) => object.spec.holderIdentity ?? '',
  },
  ageColumn,
];

/** `leases`: which process is the leader, and until when. */
export function leaseResource(names: VendorNames): ResourceDefinition {
  return defineResource<Lease>({
    group: groupName('coordination', names),
    resource: 'leases',
    singular: 'lease',
    kind: 'Lease',
    namespaced: true,
    versions: [{ version: 'v1', type: lease }],
    strategyOptions: { allowCreateOnUpdate: true, allowUnconditionalUpdate: false, plainFinalizers: true },
    strategy: {
      validate: (_context, object) => validateLease(object),
      validateUpdate: (_context, object) => validateLease(object),
    },
    columns,
  });
}

/** Validates a Lease, new or changed. */
function validateLease({ spec }: Lease): FieldError[] {
  const errors: FieldError[] = [];
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = spec;
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(invalid(specPath.child('leaseDurationSeconds'), leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    const detail = 'must be greater than or equal to 0';
    errors.push(invalid(specPath.child('leaseTransitions'), leaseTransitions, detail));
  }
  if (strategy !== undefined && !strategies.includes(strategy)) {
    errors.push(notSupported(specPath.child('strategy'), strategy, strategies));
  }
  if ((preferredHolder ?? '') !== '' && (strategy ?? '') === '') {
    const detail = 'may only be specified if `strategy` is defined';
    errors.push(forbidden(specPath.child('preferredHolder'), detail));
  }
  return errors;
}
