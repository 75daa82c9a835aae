import { type FieldError, type FieldPath, invalid, required } from '../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../base/machinery/names.js';
import type { EvictionRequest } from '../../objects/apis/lifecycle/v1alpha1/eviction-request.types.js';
import type { Condition } from '../../objects/apis/meta/v1/condition.types.js';
import type { TableColumn } from '../../objects/registry/resource-definition.js';

interface Target {
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** Table columns for the pod to evict. It is in the same field in evictions as in eviction requests. */
export const targetColumns: readonly TableColumn<EvictionRequest>[] = [
  {
    name: 'Target',
    type: 'string',
    description: 'What is to go.',
    cell: ({ spec }) => spec.target.pod?.name ?? '<unset>',
  },
  {
    name: 'Target Type',
    type: 'string',
    description: 'Kind of what is to go.',
    cell: ({ spec }) => (spec.target.pod === undefined ? '<unset>' : 'Pod'),
  },
];

/** Validates the target of an eviction. */
export function validateTarget({ pod }: Target, path: FieldPath): FieldError[] {
  if (pod === undefined) return [invalid(path, '', 'must specify one of: `pod`')];
  const at = path.child('pod');
  const errors: FieldError[] = [];
  if (pod.name === '') errors.push(required(at.child('name')));
  else for (const message of isDns1123Subdomain(pod.name)) errors.push(invalid(at.child('name'), pod.name, message));
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(pod.uid);
  if (pod.uid === '') errors.push(required(at.child('uid')));
  else if (!isUuid) {
    const detail = 'must be a lowercase UUID in 8-4-4-4-12 format, e.g. "123e4567-e89b-12d3-a456-426614174000"';
    errors.push(invalid(at.child('uid'), pod.uid, detail));
  }
  return errors;
}

/** The progress of an eviction, for a table cell. */
export function evictionState(status: {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}): string {
  const { observedGeneration, conditions = [] } = status;
  const isTrue = (type: string) =>
    conditions.find((condition) => condition.type === type && condition.status === 'True');
  const done = isTrue('TargetEvicted') ?? isTrue('Failed');
  if (done !== undefined) return `${done.type} (${done.reason})`;
  return (observedGeneration ?? 0) > 0 ? 'Progressing' : 'Pending';
}
