import { defaultFeatureGates, type FeatureGates } from '../../../base/config/feature-gates.js';
import { FieldPath, invalid, notSupported } from '../../../base/machinery/field-error.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { invalidError } from '../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { validateDryRun } from '../../../objects/registry/metadata/checked-delete-options.js';
import { validateFieldManager } from '../../../objects/registry/metadata/validate-metadata.js';
import type { FieldValidation } from './decode-body.js';

const maxManagerLength = 128;

/** The checked query parameters of a write request (specification 4.2). */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Never empty: derived from the user agent when the request names no field manager. */
  readonly fieldManager: string;
  /** Whether the request itself named the manager. */
  readonly fieldManagerGiven: boolean;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
}

/** Kinds of write options: a patch is an update, or a create when an apply creates its object. */
export type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

/**
 * Parses and checks the options of a write; throws a 422 for `kind` (`CreateOptions`, ...) when one is wrong.
 *
 * @param features without `ServerSideFieldValidation`, fieldValidation is ignored
 */
export function parseWriteOptions(
  context: RequestContext,
  names: VendorNames,
  kind: WriteOptionsKind,
  features: FeatureGates = defaultFeatureGates,
): WriteOptions {
  const { query } = context;
  const dryRun = dryRunOf(query);
  const manager = query.get('fieldManager') ?? '';
  const validates = features.isOn('ServerSideFieldValidation');
  const validation = validates ? (query.get('fieldValidation') ?? '') : 'Ignore';
  const force = query.get('force');
  const errors = validateDryRun(dryRun);
  errors.push(...validateFieldManager(manager, FieldPath.of('fieldManager')));
  if (validation !== '' && validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict') {
    errors.push(notSupported(FieldPath.of('fieldValidation'), validation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (force !== null && !/^(true|false|1|0|t|f|T|F|True|False|TRUE|FALSE)?$/.test(force)) {
    errors.push(invalid(FieldPath.of('force'), force, 'must be a boolean'));
  }
  if (errors.length > 0) throw invalidError({ group: `meta.${names.suffix}`, kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager === '' ? managerFromUserAgent(context.userAgent) : manager,
    fieldManagerGiven: manager !== '',
    // Warns by default, like the reference; clients that show no warnings lose nothing.
    fieldValidation: validation === '' ? 'Warn' : (validation as FieldValidation),
    force: force === 'true' || force === '1' || force === 't' || force === 'True' || force === 'TRUE' || force === 'T',
  };
}

/** The options that the client sent for a write, as an object of their kind, for admission. */
export function sentOptions(
  query: URLSearchParams,
  names: VendorNames,
  kind: WriteOptionsKind,
): Readonly<Record<string, unknown>> {
  const dryRun = dryRunOf(query);
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  return {
    kind,
    apiVersion: `meta.${names.suffix}/v1`,
    ...(dryRun.length > 0 ? { dryRun } : {}),
    ...(fieldManager !== '' ? { fieldManager } : {}),
    ...(fieldValidation !== '' ? { fieldValidation } : {}),
  };
}

/** The values of `dryRun` in a query. An empty value requests an ordinary write (specification 4.2, 4.7). */
export function dryRunOf(query: URLSearchParams): string[] {
  return query.getAll('dryRun').filter((value) => value !== '');
}

/** The part of a user agent before the first slash, cut to the allowed length of a manager. */
function managerFromUserAgent(userAgent: string): string {
  const printable = [...(userAgent.split('/')[0] as string)].filter((c) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(c)).join('');
  return printable.slice(0, maxManagerLength);
}
