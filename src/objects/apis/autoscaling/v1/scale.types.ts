import {
  always,
  type Infer,
  int32,
  kind,
  optional,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const scaleSpec = struct('autoscaling.v1.ScaleSpec', {
  replicas: optional(1, int32, { default: 0, doc: 'Wanted number of pods.' }),
});
export type ScaleSpec = Infer<typeof scaleSpec>;

export const scaleStatus = struct('autoscaling.v1.ScaleStatus', {
  replicas: required(1, int32, { doc: 'Number of pods.' }),
  selector: optional(2, string, { doc: 'Labels of the pods, as a query.' }),
});
export type ScaleStatus = Infer<typeof scaleStatus>;

export const scale = kind(
  { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, scaleSpec),
    status: always(3, scaleStatus),
  },
  { doc: 'The number of pods of something that can be scaled.' },
);
export type Scale = Infer<typeof scale>;
