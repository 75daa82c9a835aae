import { type FieldError, FieldPath, internal, invalid } from '../../../base/machinery/field-error.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { sloppyIpFamily, validatePlainIp } from '../../../objects/apis/core/v1/validation/ip-address.validation.js';

const statusPath = FieldPath.of('status');

/** Checks the addresses of a pod and of its host. */
export function validateAddresses({ status }: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = [];
  const podIps = status.podIPs ?? [];
  const podPath = statusPath.child('podIPs');
  checkList(podIps, old.status.podIPs ?? [], podPath, errors);
  if (podIps[0]?.ip === '') {
    errors.push(invalid(podPath, podIps, 'podIP and podIPs must either both be set or both be unset'));
  }
  const hostIps = status.hostIPs ?? [];
  const hostPath = statusPath.child('hostIPs');
  // The first must be the one that older clients know.
  const first = hostIps[0]?.ip ?? '';
  if (hostIps.length > 0 && first !== (status.hostIP ?? '')) {
    errors.push(invalid(hostPath.index(0).child('ip'), first, 'must be equal to `hostIP`'));
  }
  checkList(hostIps, old.status.hostIPs ?? [], hostPath, errors);
  return errors;
}

type Addresses = readonly { readonly ip?: string | undefined }[];

/** Checks a list of addresses, at most one of each family. */
function checkList(list: Addresses, old: Addresses, path: FieldPath, errors: FieldError[]): void {
  const known = old.map(({ ip }) => ip);
  list.forEach(({ ip = '' }, i) => {
    errors.push(...validatePlainIp(ip, path.index(i), known));
  });
  if (list.length < 2) return;
  const families = list.map(({ ip = '' }) => sloppyIpFamily(ip));
  const broken = families.indexOf(undefined);
  if (broken >= 0) {
    const detail = `failed to check for dual stack with error:invalid IP[${broken}]: ${list[broken]?.ip ?? ''}`;
    errors.push(internal(path, detail));
  }
  if (broken >= 0 || new Set(families).size < list.length) {
    errors.push(invalid(path, list, 'may specify no more than one IP for each IP family'));
  }
}
