import { readFile } from 'node:fs/promises';
import type { ControlLoopOptions } from '../config/controllers.options.js';
import type { SigningAuthorities } from '../controllers/csr-signing/csr-signing.controller.js';
import type { VendorNames } from '../machinery/vendor.js';
import { CertificateAuthority, CertificateAuthorityError } from '../machinery/x509/certificate-authority.js';
import { errorText, StartupError } from './startup-error.js';

/**
 * Reads the authorities that sign certificates, each signer's own one before the general one. Undefined when the options
 * name none.
 *
 * @throws StartupError when a file can't be read or used.
 */
export async function loadSigningAuthorities(
  options: Readonly<ControlLoopOptions>,
  names: VendorNames,
): Promise<SigningAuthorities | undefined> {
  const pairs: readonly (readonly [string, string | undefined, string | undefined])[] = [
    [
      names.apiserverClientSigner,
      options.clusterSigningApiserverClientCertFile,
      options.clusterSigningApiserverClientKeyFile,
    ],
    [
      names.nodeClientSigner,
      options.clusterSigningNodeagentClientCertFile,
      options.clusterSigningNodeagentClientKeyFile,
    ],
    [
      names.nodeServingSigner,
      options.clusterSigningNodeagentServingCertFile,
      options.clusterSigningNodeagentServingKeyFile,
    ],
    [
      names.legacyUnknownSigner,
      options.clusterSigningLegacyUnknownCertFile,
      options.clusterSigningLegacyUnknownKeyFile,
    ],
  ];
  const general = await load(options.clusterSigningCertFile, options.clusterSigningKeyFile);
  const authorities = new Map<string, CertificateAuthority>();
  for (const [signer, certificateFile, keyFile] of pairs) {
    const authority = (await load(certificateFile, keyFile)) ?? general;
    if (authority !== undefined) authorities.set(signer, authority);
  }
  return authorities.size === 0 ? undefined : { authorities, durationMs: options.clusterSigningDurationMs };
}

async function load(
  certificateFile: string | undefined,
  keyFile: string | undefined,
): Promise<CertificateAuthority | undefined> {
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  try {
    return CertificateAuthority.fromPem(await readFile(certificateFile, 'utf8'), await readFile(keyFile, 'utf8'));
  } catch (error) {
    const where = error instanceof CertificateAuthorityError ? `${certificateFile}, ${keyFile}: ` : '';
    throw new StartupError(`${where}${errorText(error)}`, { cause: error });
  }
}
