import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { deviceClass as deviceClassV1 } from '../v1/device-class.types.js';
import { deviceTaintRule as deviceTaintRuleV1 } from '../v1/device-taint-rule.types.js';
import {
  resourceClaimTemplate as resourceClaimTemplateV1,
  resourceClaim as resourceClaimV1,
} from '../v1/resource-claim.types.js';
import { resourceSlice as resourceSliceV1 } from '../v1/resource-slice.types.js';

/** Declares a v1 type in v1beta2. */
const inV1beta2 = typesInVersion('v1beta2');

export const deviceClass = inV1beta2(deviceClassV1);
export const deviceTaintRule = inV1beta2(deviceTaintRuleV1);
export const resourceClaim = inV1beta2(resourceClaimV1);
export const resourceClaimTemplate = inV1beta2(resourceClaimTemplateV1);
export const resourceSlice = inV1beta2(resourceSliceV1);

export const deviceClassList = listKind(deviceClass);
export const deviceTaintRuleList = listKind(deviceTaintRule);
export const resourceClaimList = listKind(resourceClaim);
export const resourceClaimTemplateList = listKind(resourceClaimTemplate);
export const resourceSliceList = listKind(resourceSlice);
