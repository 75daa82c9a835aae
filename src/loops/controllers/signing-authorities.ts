import { readFileSync } from 'node:fs';
import type { ControlLoopOptions } from '../../base/config/control-loop.options.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import { CertificateAuthority } from '../../base/machinery/x509/certificate-authority.js';
import { CertificateAuthorityError } from '../../base/machinery/x509/certificate-authority-error.js';
import type { SigningAuthorities } from './csr-signing/csr-signing.controller.js';

/**
 * Reads the authorities that sign certificates; a signer's own authority takes precedence over the general one.
 * Undefined when the options name none.
 *
 * @throws StartupError when a file can't be read or used.
 */
export function loadSigningAuthorities(
  options: Readonly<ControlLoopOptions>,
  names: VendorNames,
): SigningAuthorities | undefined {
  const general = load(options.clusterSigningCertFile, options.clusterSigningKeyFile);
  const authorities = new Map<string, CertificateAuthority>();
  for (const [signer, certificateFile, keyFile] of signerFiles(options, names)) {
    const authority = load(certificateFile, keyFile) ?? general;
    if (authority !== undefined) authorities.set(signer, authority);
  }
  return authorities.size === 0 ? undefined : { authorities, durationMs: options.clusterSigningDurationMs };
}

/** All files that {@link loadSigningAuthorities} reads. */
export function signingAuthorityFiles(options: Readonly<ControlLoopOptions>, names: VendorNames): readonly string[] {
  const general = [options.clusterSigningCertFile, options.clusterSigningKeyFile];
  const own = signerFiles(options, names).flatMap(([, certificateFile, keyFile]) => [certificateFile, keyFile]);
  return [...general, ...own].filter((file) => file !== undefined);
}

type SignerFiles = readonly [signer: string, certificateFile: string | undefined, keyFile: string | undefined];

function signerFiles(options: Readonly<ControlLoopOptions>, names: VendorNames): readonly SignerFiles[] {
  return [
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
}

function load(certificateFile: string | undefined, keyFile: string | undefined): CertificateAuthority | undefined {
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  try {
    return CertificateAuthority.fromPem(readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8'));
  } catch (error) {
    const where = error instanceof CertificateAuthorityError ? `${certificateFile}, ${keyFile}: ` : '';
    throw new StartupError(`${where}${errorText(error)}`, { cause: error });
  }
}
