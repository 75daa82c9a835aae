import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { deviceTaintRule as deviceTaintRuleV1 } from '../v1/device-taint-rule.types.js';

export const deviceTaintRule = typesInVersion('v1alpha3')(deviceTaintRuleV1);
export const deviceTaintRuleList = listKind(deviceTaintRule);
