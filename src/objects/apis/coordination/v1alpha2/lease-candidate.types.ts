import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { leaseCandidate as leaseCandidateV1beta1 } from '../v1beta1/lease-candidate.types.js';

export const leaseCandidate = typesInVersion('v1alpha2')(leaseCandidateV1beta1);
export const leaseCandidateList = listKind(leaseCandidate);
