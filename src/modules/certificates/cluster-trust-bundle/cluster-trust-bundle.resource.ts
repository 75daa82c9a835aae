import { X509Certificate } from 'node:crypto';
import { type FieldError, FieldPath, invalid, tooLong } from '../../../base/machinery/field-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { readPem } from '../../../base/machinery/x509/pem.js';
import {
  type ClusterTrustBundle,
  clusterTrustBundle,
} from '../../../objects/apis/certificates/v1/cluster-trust-bundle.types.js';
import { validateSignerName } from '../../../objects/apis/certificates/v1/validation/signer-name.validation.js';
import { clusterTrustBundle as clusterTrustBundleV1beta1 } from '../../../objects/apis/certificates/v1beta1/cluster-trust-bundle.types.js';
import { nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { trustBundleNameErrors } from './trust-bundle-name.js';

const specPath = FieldPath.of('spec');
const bundlePath = specPath.child('trustBundle');
const maxLength = 1024 * 1024;
const omitted = '<value omitted>';

const columns: readonly TableColumn<ClusterTrustBundle>[] = [
  nameColumn,
  {
    name: 'SignerName',
    type: 'string',
    description: 'Signer whose certificates these are.',
    cell: ({ spec }) => spec.signerName ?? '<none>',
  },
];

/** `clustertrustbundles`: certificates that are trusted in the whole cluster. */
export function clusterTrustBundleResource(names: VendorNames): ResourceDefinition {
  return defineResource<ClusterTrustBundle>({
    group: groupName('certificates', names),
    resource: 'clustertrustbundles',
    singular: 'clustertrustbundle',
    kind: 'ClusterTrustBundle',
    namespaced: false,
    versions: [
      { version: 'v1beta1', type: clusterTrustBundleV1beta1, isOffByDefault: true },
      { version: 'v1', type: clusterTrustBundle },
    ],
    strategyOptions: { allowUnconditionalUpdate: false },
    strategy: {
      // The allowed names depend on the signer: see `validate`.
      validateName: () => [],
      validate: (_context, object) => validateBundle(object),
      validateUpdate: (_context, object, old) => validateBundleUpdate(object, old),
    },
    selectableFieldNames: ['spec.signerName'],
    hidesNamespace: true,
    selectableFields: ({ spec }) => ({ 'spec.signerName': spec.signerName ?? '' }),
    columns,
  });
}

function validateBundle(object: ClusterTrustBundle, isParsed = true): FieldError[] {
  const { signerName = '', trustBundle } = object.spec;
  const name = object.metadata?.name ?? '';
  // An absent name is reported once, by the check of all metadata.
  const faults = name === '' ? [] : trustBundleNameErrors(name, signerName);
  const errors = faults.map((m) => invalid(FieldPath.of('metadata', 'name'), name, m));
  if (signerName !== '') errors.push(...validateSignerName(signerName, specPath.child('signerName')));
  return isParsed ? [...errors, ...validateAnchors(trustBundle)] : errors;
}

function validateBundleUpdate(object: ClusterTrustBundle, old: ClusterTrustBundle): FieldError[] {
  const errors = validateBundle(object, object.spec.trustBundle !== old.spec.trustBundle);
  const { signerName = '' } = object.spec;
  if (signerName !== (old.spec.signerName ?? '')) {
    errors.push(invalid(specPath.child('signerName'), signerName, 'field is immutable'));
  }
  return errors;
}

function validateAnchors(text: string): FieldError[] {
  if (text.length > maxLength) return [tooLong(bundlePath, maxLength)];
  const errors: FieldError[] = [];
  const places = new Map<string, number[]>();
  for (const [i, { label, hasHeaders, der }] of readPem(text).entries()) {
    const problem = blockProblem(label, hasHeaders, i) ?? anchorProblem(der, i);
    if (problem !== undefined) {
      errors.push(invalid(bundlePath, omitted, problem));
      continue;
    }
    const key = der.toString('base64');
    places.set(key, [...(places.get(key) ?? []), i]);
  }
  if (errors.length > 0) return errors;
  if (places.size === 0) return [invalid(bundlePath, omitted, 'at least one trust anchor must be provided')];
  return [...places.values()]
    .filter((indexes) => indexes.length > 1)
    .map((indexes) => invalid(bundlePath, omitted, `duplicate trust anchor (indices [${indexes.join(' ')}])`));
}

function blockProblem(label: string, hasHeaders: boolean, i: number): string | undefined {
  if (label !== 'CERTIFICATE') return `entry ${i} has bad block type: ${label}`;
  return hasHeaders ? `entry ${i} has PEM block headers` : undefined;
}

function anchorProblem(bytes: Buffer, i: number): string | undefined {
  try {
    return new X509Certificate(bytes).ca ? undefined : `entry ${i} does not have the CA bit set`;
  } catch {
    return `entry ${i} does not parse as X.509`;
  }
}
