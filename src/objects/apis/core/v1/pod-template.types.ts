import { always, type Infer, kind } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { podTemplateSpec } from './pod-spec.types.js';

export const podTemplate = kind(
  { group: '', version: 'v1', kind: 'PodTemplate', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    template: always(2, podTemplateSpec, { doc: 'Description of the pods.' }),
  },
  { doc: 'A stored description of pods to be made.' },
);
export type PodTemplate = Infer<typeof podTemplate>;

export const podTemplateList = listKind(podTemplate);
export type PodTemplateList = Infer<typeof podTemplateList>;
