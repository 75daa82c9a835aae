import type { SchemaTexts } from '../../machinery/schema/index.js';
import { accessTexts } from './access.texts.js';
import { admissionTexts } from './admission.texts.js';
import { autoscalingTexts } from './autoscaling.texts.js';
import { containerTexts } from './container.texts.js';
import { coreTexts } from './core.texts.js';
import { extensionTexts } from './extension.texts.js';
import { metaTexts } from './meta.texts.js';
import { networkTexts } from './network.texts.js';
import { podTexts } from './pod.texts.js';
import { policyTexts } from './policy.texts.js';
import { storageTexts } from './storage.texts.js';
import { volumeTexts } from './volume.texts.js';
import { volumeSourceTexts } from './volume-source.texts.js';
import { workloadTexts } from './workload.texts.js';

/**
 * Texts of types and fields whose declarations have none. Only OpenAPI documents need them: load this module when one
 * is made, not at start.
 */
export const schemaTexts: SchemaTexts = {
  ...accessTexts,
  ...admissionTexts,
  ...autoscalingTexts,
  ...containerTexts,
  ...coreTexts,
  ...extensionTexts,
  ...metaTexts,
  ...networkTexts,
  ...podTexts,
  ...policyTexts,
  ...storageTexts,
  ...volumeTexts,
  ...volumeSourceTexts,
  ...workloadTexts,
};
