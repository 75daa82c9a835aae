import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { isConfigMapKey, isQualifiedName } from '../../../base/machinery/names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { leaseCandidate as leaseCandidateV1alpha2 } from '../../../objects/apis/coordination/v1alpha2/lease-candidate.types.js';
import {
  type LeaseCandidate,
  leaseCandidate,
} from '../../../objects/apis/coordination/v1beta1/lease-candidate.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';

const specPath = FieldPath.of('spec');
const strategies = ['OldestEmulationVersion'];
const versionRule = 'must be a valid semantic version';

const columns: readonly TableColumn<LeaseCandidate>[] = [
  nameColumn,
  { name: 'LeaseName', type: 'string', description: 'The lease.', cell: ({ spec }) => spec.leaseName },
  {
    name: 'BinaryVersion',
    type: 'string',
    description: 'Version of the program.',
    cell: ({ spec }) => spec.binaryVersion,
  },
  {
    name: 'EmulationVersion',
    type: 'string',
    description: 'Version that the program behaves like.',
    cell: ({ spec }) => spec.emulationVersion ?? '',
  },
  ageColumn,
];

/** `leasecandidates`: processes that offer to hold a lease. */
export function leaseCandidateResource(names: VendorNames): ResourceDefinition {
  return defineResource<LeaseCandidate>({
    group: groupName('coordination', names),
    resource: 'leasecandidates',
    singular: 'leasecandidate',
    kind: 'LeaseCandidate',
    namespaced: true,
    versions: [
      { version: 'v1beta1', type: leaseCandidate, isOffByDefault: true },
      { version: 'v1alpha2', type: leaseCandidateV1alpha2 },
    ],
    strategyOptions: { allowCreateOnUpdate: true, allowUnconditionalUpdate: false, plainFinalizers: true },
    strategy: {
      validateName: isConfigMapKey,
      validate: (_context, object) => validateCandidate(object),
      validateUpdate: (_context, object, old) => {
        const errors = validateCandidate(object);
        const { leaseName } = object.spec;
        if (leaseName !== old.spec.leaseName) {
          errors.push(invalid(specPath.child('leaseName'), leaseName, 'field is immutable'));
        }
        return errors;
      },
    },
    columns,
  });
}

function validateCandidate({ spec }: LeaseCandidate): FieldError[] {
  const { leaseName, binaryVersion, emulationVersion = '', strategy = '' } = spec;
  const errors: FieldError[] = [];
  if (leaseName === '') errors.push(required(specPath.child('leaseName')));
  const emulated = versionOf(emulationVersion);
  const binary = versionOf(binaryVersion);
  const binaryPath = specPath.child('binaryVersion');
  if (emulationVersion !== '' && emulated === undefined) {
    errors.push(invalid(specPath.child('emulationVersion'), emulationVersion, versionRule));
  }
  if (binaryVersion === '') errors.push(required(binaryPath));
  else if (binary === undefined) errors.push(invalid(binaryPath, binaryVersion, versionRule));
  if (binary !== undefined && emulated !== undefined && isOlder(binary, emulated)) {
    errors.push(invalid(binaryPath, binaryVersion, 'must be greater than or equal to `emulationVersion`'));
  }
  const strategyPath = specPath.child('strategy');
  if (strategy === '') return [...errors, required(strategyPath)];
  if (strategy === 'OldestEmulationVersion' && (emulated ?? [0]).every((number) => number === 0)) {
    const detail = "must be specified when `strategy` is 'OldestEmulationVersion'";
    errors.push(required(specPath.child('emulationVersion'), detail));
  }
  const at = strategyPath.child('strategy');
  if (strategy.includes('/')) for (const m of isQualifiedName(strategy)) errors.push(invalid(at, strategy, m));
  else if (!strategies.includes(strategy)) errors.push(notSupported(at, strategy, strategies));
  return errors;
}

function versionOf(text: string): readonly number[] | undefined {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:[-+][0-9A-Za-z.+-]+)?$/.exec(text);
  return match?.slice(1).map(Number);
}

function isOlder(a: readonly number[], b: readonly number[]): boolean {
  const i = a.findIndex((number, at) => number !== b[at]);
  return i >= 0 && (a[i] as number) < (b[i] as number);
}
