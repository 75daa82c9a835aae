import type { ApiObject } from '../../base/machinery/api-object.js';
import { formatLabelSelector } from '../../base/machinery/label-selector.js';
import type { PodTemplateSpec } from '../../objects/apis/core/v1/pod-spec.types.js';
import { containerImages, containerNames } from '../../objects/apis/core/v1/pod-template-text.js';
import type { LabelSelector } from '../../objects/apis/meta/v1/selector.types.js';
import type { TableColumn } from '../../objects/registry/resource-definition.js';

/** An object that owns pods made from a template. */
export type Workload = ApiObject & {
  spec: { template: PodTemplateSpec; selector?: LabelSelector | null };
};

/** A column, always shown, for a count. */
export function countColumn<T extends ApiObject>(
  name: string,
  description: string,
  count: (object: T) => number | undefined,
): TableColumn<T> {
  return { name, type: 'integer', description, cell: (object) => count(object) ?? 0 };
}

/** `Containers` and `Images`, shown in wide tables. */
export function containerColumns<T extends Workload>(): readonly TableColumn<T>[] {
  return [
    {
      name: 'Containers',
      type: 'string',
      priority: 1,
      description: 'Names of the containers.',
      cell: ({ spec }) => containerNames(spec.template.spec),
    },
    {
      name: 'Images',
      type: 'string',
      priority: 1,
      description: 'Images of the containers.',
      cell: ({ spec }) => containerImages(spec.template.spec),
    },
  ];
}

/** `Selector`, shown in wide tables. */
export function selectorColumn<T extends Workload>(): TableColumn<T> {
  return {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'Labels of the pods that belong to it.',
    cell: ({ spec }) => formatLabelSelector(spec.selector ?? undefined) || '<none>',
  };
}
