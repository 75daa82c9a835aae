import { type Infer, optional, required, string, struct } from '../../../../base/machinery/schema/index.js';

export const crossVersionObjectReference = struct(
  'autoscaling.v1.CrossVersionObjectReference',
  {
    kind: required(1, string),
    name: required(2, string),
    apiVersion: optional(3, string),
  },
  { mapType: 'atomic' },
);
export type CrossVersionObjectReference = Infer<typeof crossVersionObjectReference>;
