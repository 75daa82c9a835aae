import {
  always,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { deviceTaint } from './device-taint.types.js';

export const deviceTaintSelector = struct('resource.v1.DeviceTaintSelector', {
  driver: pointer(2, string),
  pool: pointer(3, string),
  device: pointer(4, string),
});
export type DeviceTaintSelector = Infer<typeof deviceTaintSelector>;

export const deviceTaintRuleSpec = struct('resource.v1.DeviceTaintRuleSpec', {
  deviceSelector: pointer(1, deviceTaintSelector),
  taint: always(2, deviceTaint),
});
export type DeviceTaintRuleSpec = Infer<typeof deviceTaintRuleSpec>;

export const deviceTaintRuleStatus = struct('resource.v1.DeviceTaintRuleStatus', {
  conditions: optional(1, list(condition), mergedBy('type')),
});
export type DeviceTaintRuleStatus = Infer<typeof deviceTaintRuleStatus>;

export const deviceTaintRule = kind(
  { group: 'resource', version: 'v1', kind: 'DeviceTaintRule', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, deviceTaintRuleSpec),
    status: always(3, deviceTaintRuleStatus),
  },
  { doc: 'Adds a taint to all devices that a selector matches.' },
);
export type DeviceTaintRule = Infer<typeof deviceTaintRule>;

export const deviceTaintRuleList = listKind(deviceTaintRule);
export type DeviceTaintRuleList = Infer<typeof deviceTaintRuleList>;
