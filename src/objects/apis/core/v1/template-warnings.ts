import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { ObjectMeta } from '../../meta/v1/object-meta.types.js';
import type { PodTemplateSpec } from './pod-spec.types.js';
import { podWarnings } from './pod-warnings.js';

interface Workload {
  readonly metadata: Pick<ObjectMeta, 'generation'>;
  readonly spec: { readonly template: PodTemplateSpec };
}

/** Warnings about the template of a workload, new or changed. */
export function templateWarnings(object: Workload, old: Workload | undefined, names: VendorNames): string[] {
  if (old !== undefined && old.metadata.generation === object.metadata.generation) return [];
  return podWarnings(object.spec.template, 'spec.template.', names);
}

/** The warning about a name that is not a DNS label, for kinds whose pods are named after the object. */
export function podNameWarnings({ name = '' }: Pick<ObjectMeta, 'name'>, old: object | undefined): string[] {
  if (old !== undefined) return [];
  const problems: string[] = [];
  if (name.length > 63) problems.push('must be no more than 63 characters');
  if (name.includes('.')) problems.push('must not contain dots');
  if (problems.length === 0) return [];
  const advice = 'this is used in Pod names and hostnames, which can result in surprising behavior';
  return [`metadata.name: ${advice}; a DNS label is recommended: [${problems.join(' ')}]`];
}
