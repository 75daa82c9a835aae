import type { ApiObject } from '../../base/machinery/api-object.js';
import { formatLabelSelector } from '../../base/machinery/label-selector.js';
import type { JobSpec } from '../../objects/apis/batch/v1/job.types.js';
import { containerImages, containerNames } from '../../objects/apis/core/v1/pod-template-text.js';
import type { TableColumn } from '../../objects/registry/resource-definition.js';

/** `Containers`, `Images` and `Selector` of a job, or of the jobs that an object makes, shown in wide tables. */
export function jobTemplateColumns<T extends ApiObject>(jobSpec: (object: T) => JobSpec): readonly TableColumn<T>[] {
  return [
    {
      name: 'Containers',
      type: 'string',
      priority: 1,
      description: 'Names of the containers.',
      cell: (object) => containerNames(jobSpec(object).template.spec),
    },
    {
      name: 'Images',
      type: 'string',
      priority: 1,
      description: 'Images of the containers.',
      cell: (object) => containerImages(jobSpec(object).template.spec),
    },
    {
      name: 'Selector',
      type: 'string',
      priority: 1,
      description: 'Labels of the pods of the job.',
      cell: (object) => formatLabelSelector(jobSpec(object).selector) || '<none>',
    },
  ];
}
