import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';
import { accessDescriptions } from './access.descriptions.js';
import { admissionDescriptions } from './admission.descriptions.js';
import { autoscalingDescriptions } from './autoscaling.descriptions.js';
import { containerDescriptions } from './container.descriptions.js';
import { coreDescriptions } from './core.descriptions.js';
import { deviceDescriptions } from './device.descriptions.js';
import { extensionDescriptions } from './extension.descriptions.js';
import { lifecycleDescriptions } from './lifecycle.descriptions.js';
import { metaDescriptions } from './meta.descriptions.js';
import { networkDescriptions } from './network.descriptions.js';
import { podDescriptions } from './pod.descriptions.js';
import { podGroupDescriptions } from './pod-group.descriptions.js';
import { policyDescriptions } from './policy.descriptions.js';
import { storageDescriptions } from './storage.descriptions.js';
import { volumeDescriptions } from './volume.descriptions.js';
import { volumeSourceDescriptions } from './volume-source.descriptions.js';
import { workloadDescriptions } from './workload.descriptions.js';

/**
 * Descriptions of types and fields whose declarations have none. Only OpenAPI documents need them: load this module
 * when one is made, not at start.
 */
export const fieldDescriptions: FieldDescriptions = {
  ...accessDescriptions,
  ...admissionDescriptions,
  ...autoscalingDescriptions,
  ...containerDescriptions,
  ...coreDescriptions,
  ...deviceDescriptions,
  ...extensionDescriptions,
  ...lifecycleDescriptions,
  ...metaDescriptions,
  ...networkDescriptions,
  ...podDescriptions,
  ...podGroupDescriptions,
  ...policyDescriptions,
  ...storageDescriptions,
  ...volumeDescriptions,
  ...volumeSourceDescriptions,
  ...workloadDescriptions,
};
