import type { DeviceClaim, DeviceRequest } from '../../../objects/apis/resource/v1/device-claim.types.js';
import type { DeviceRequest as BetaRequest } from '../../../objects/apis/resource/v1beta1/resource.types.js';

/** What a claim asks for, as v1beta1 shows it: requests without choices have the fields of the devices themselves. */
export interface BetaDeviceClaim extends Omit<DeviceClaim, 'requests'> {
  requests?: BetaRequest[] | null;
}

/** What a claim of v1beta1 asks for, in the stored form. */
export function storedClaim({ requests, ...rest }: BetaDeviceClaim): DeviceClaim {
  return { ...rest, requests: requests?.map(storedRequest) ?? null } as DeviceClaim;
}

/** What a stored claim asks for, as v1beta1 shows it. */
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

/** How many devices are wanted when the client does not say so. */
export function applyCountDefaults(wanted: Counted): void {
  if ((wanted.allocationMode ?? '') === '') wanted.allocationMode = 'ExactCount';
  if (wanted.allocationMode === 'ExactCount' && Number(wanted.count ?? 0) === 0) wanted.count = 1;
}

/** Defaults of a claim of v1beta1. */
export function applyBetaDefaults(claim: BetaDeviceClaim): void {
  for (const request of claim.requests ?? []) {
    const choices = request.firstAvailable ?? [];
    if (choices.length === 0) applyCountDefaults(request);
    for (const choice of choices) applyCountDefaults(choice);
    applyTolerationDefaults([request, ...choices]);
  }
}

/** Defaults of a claim in the stored version. */
export function applyClaimDefaults(claim: DeviceClaim): void {
  for (const { exactly, firstAvailable = [] } of claim.requests ?? []) {
    const wanted = exactly === undefined ? firstAvailable : [exactly, ...firstAvailable];
    for (const each of wanted) applyCountDefaults(each);
    applyTolerationDefaults(wanted);
  }
}

function applyTolerationDefaults(wanted: readonly Pick<BetaRequest, 'tolerations'>[]): void {
  for (const { tolerations = [] } of wanted) {
    for (const toleration of tolerations) {
      if ((toleration.operator ?? '') === '') toleration.operator = 'Equal';
    }
  }
}
