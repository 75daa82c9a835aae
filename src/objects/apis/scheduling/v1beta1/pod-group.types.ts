import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { podGroup as podGroupV1alpha3 } from '../v1alpha3/pod-group.types.js';
import { workload as workloadV1alpha3 } from '../v1alpha3/workload.types.js';

/** Declares a v1alpha3 type in v1beta1. */
const inV1beta1 = typesInVersion('v1beta1');

export const podGroup = inV1beta1(podGroupV1alpha3);
export const workload = inV1beta1(workloadV1alpha3);

export const podGroupList = listKind(podGroup);
export const workloadList = listKind(workload);
