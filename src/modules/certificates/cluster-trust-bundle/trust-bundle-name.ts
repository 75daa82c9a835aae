import { isDns1123Subdomain } from '../../../base/machinery/names.js';

/** Validates the name of a bundle: if it has a signer, its name begins with the signer. */
export function trustBundleNameErrors(name: string, signerName: string): string[] {
  if (signerName === '') {
    if (name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
    return isDns1123Subdomain(name);
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`;
  if (name.startsWith(prefix)) return isDns1123Subdomain(name.slice(prefix.length));
  return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
}
