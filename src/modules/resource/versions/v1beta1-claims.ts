import type { DeviceClaim, DeviceRequest } from '../../../objects/apis/resource/v1/device-claim.types.js';
import type { DeviceRequest as BetaRequest } from '../../../objects/apis/resource/v1beta1/resource.types.js';

/** The requests of a claim in v1beta1, where a request without alternatives has the fields of its devices itself. */
export interface BetaDeviceClaim extends Omit<DeviceClaim, 'requests'> {
  requests?: BetaRequest[] | null;
}

/** Converts the requests of a v1beta1 claim to the stored form. */
export function storedClaim({ requests, ...rest }: BetaDeviceClaim): DeviceClaim {
  return { ...rest, requests: requests?.map(storedRequest) ?? null } as DeviceClaim;
}

/** Converts the requests of a stored claim to v1beta1. */
export function betaClaim({ requests, ...rest }: DeviceClaim): BetaDeviceClaim {
  return { ...rest, requests: requests?.map(betaRequest) ?? null } as BetaDeviceClaim;
}

function storedRequest({ name, firstAvailable, ...exactly }: BetaRequest): DeviceRequest {
  const isSet = Object.values(exactly).some((value) => value !== '' && value !== undefined);
  return {
    name,
    ...(isSet ? { exactly } : {}),
    ...(firstAvailable === undefined ? {} : { firstAvailable }),
  } as DeviceRequest;
}

function betaRequest({ name, exactly, firstAvailable }: DeviceRequest): BetaRequest {
  return { name, ...exactly, ...(firstAvailable === undefined ? {} : { firstAvailable }) } as BetaRequest;
}

type Counted = Pick<BetaRequest, 'allocationMode' | 'count'>;

/** Fills in how many devices are requested when the client does not specify it. */
export function applyCountDefaults(wanted: Counted): void {
  if ((wanted.allocationMode ?? '') === '') wanted.allocationMode = 'ExactCount';
  if (wanted.allocationMode === 'ExactCount' && Number(wanted.count ?? 0) === 0) wanted.count = 1;
}

/** Fills in the defaults of a v1beta1 claim. */
export function applyBetaDefaults(claim: BetaDeviceClaim): void {
  for (const request of claim.requests ?? []) {
    const choices = request.firstAvailable ?? [];
    if (choices.length === 0) applyCountDefaults(request);
    for (const choice of choices) applyCountDefaults(choice);
    applyTolerationDefaults([request, ...choices]);
  }
}

/** Fills in the defaults of a claim in the stored version. */
export function applyClaimDefaults(claim: DeviceClaim): void {
  for (const { exactly, firstAvailable = [] } of claim.requests ?? []) {
    const wanted = exactly === undefined ? firstAvailable : [exactly, ...firstAvailable];
    for (const each of wanted) applyCountDefaults(each);
    applyTolerationDefaults(wanted);
  }
}

/** Sets the operator of tolerations that have none. */
export function applyTolerationDefaults(wanted: readonly Pick<BetaRequest, 'tolerations'>[]): void {
  for (const { tolerations = [] } of wanted) {
    for (const toleration of tolerations) {
      if ((toleration.operator ?? '') === '') toleration.operator = 'Equal';
    }
  }
}
