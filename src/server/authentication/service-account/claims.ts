import type { BoundObject } from '../../../base/machinery/tokens.js';

/** An object named in a token. Its uid distinguishes it from later objects of the same name. */
export interface ObjectClaim {
  readonly name: string;
  readonly uid: string;
}

/** The service account of a token, and the objects that the token depends on. */
export interface AccountClaims {
  readonly namespace: string;
  readonly account: ObjectClaim;
  readonly pod?: ObjectClaim | undefined;
  readonly secret?: ObjectClaim | undefined;
  readonly node?: ObjectClaim | undefined;
  /**
   * Seconds since the epoch; uses of the token after this time are counted. Present only in tokens that live longer
   * than requested.
   */
  readonly warnAfter?: number | undefined;
}

/** The private claim of a token, with its fields in alphabetical order. */
export function encodeAccountClaims(
  namespace: string,
  account: ObjectClaim,
  bound: BoundObject | undefined,
  node: ObjectClaim | undefined,
  warnAfter: number | undefined,
): Record<string, unknown> {
  const claim = ({ name, uid }: ObjectClaim) => (uid === '' ? { name } : { name, uid });
  const nodeOf = bound?.kind === 'Node' ? bound : node;
  return {
    namespace,
    ...(nodeOf === undefined ? {} : { node: claim(nodeOf) }),
    ...(bound?.kind === 'Pod' ? { pod: claim(bound) } : {}),
    ...(bound?.kind === 'Secret' ? { secret: claim(bound) } : {}),
    serviceaccount: claim(account),
    ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
  };
}

/** Decodes the claim; undefined when it names no service account. The signature must have been checked before. */
export function decodeAccountClaims(claim: unknown): AccountClaims | undefined {
  if (!isRecord(claim)) return undefined;
  const account = objectClaim(claim.serviceaccount);
  const { namespace, warnafter } = claim;
  if (account === undefined || typeof namespace !== 'string' || namespace === '') return undefined;
  return {
    namespace,
    account,
    pod: objectClaim(claim.pod),
    secret: objectClaim(claim.secret),
    node: objectClaim(claim.node),
    warnAfter: typeof warnafter === 'number' ? warnafter : undefined,
  };
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectClaim(value: unknown): ObjectClaim | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return undefined;
  return { name: value.name, uid: typeof value.uid === 'string' ? value.uid : '' };
}
