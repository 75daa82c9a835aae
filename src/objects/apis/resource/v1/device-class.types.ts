import {
  always,
  type Infer,
  inline,
  kind,
  list,
  optional,
  pointer,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { deviceConfiguration, deviceSelector } from './device-selector.types.js';

export const deviceClassConfiguration = struct('resource.v1.DeviceClassConfiguration', {
  deviceConfiguration: inline(1, deviceConfiguration),
});
export type DeviceClassConfiguration = Infer<typeof deviceClassConfiguration>;

export const deviceClassSpec = struct('resource.v1.DeviceClassSpec', {
  selectors: optional(1, list(deviceSelector), { listType: 'atomic' }),
  config: optional(2, list(deviceClassConfiguration), { listType: 'atomic' }),
  extendedResourceName: pointer(4, string),
});
export type DeviceClassSpec = Infer<typeof deviceClassSpec>;

export const deviceClass = kind(
  { group: 'resource', version: 'v1', kind: 'DeviceClass', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, deviceClassSpec),
  },
  { doc: 'Devices of one sort that claims can ask for, chosen by an administrator.' },
);
export type DeviceClass = Infer<typeof deviceClass>;

export const deviceClassList = listKind(deviceClass);
export type DeviceClassList = Infer<typeof deviceClassList>;
