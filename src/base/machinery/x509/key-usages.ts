/** Bits of the keyUsage extension (RFC 5280, 4.2.1.3) by API name. */
const keyUsageBits: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

/** Object identifiers of extendedKeyUsage (RFC 5280, 4.2.1.12) by API name. */
const extendedUsageOids: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/** Usages as certificates contain them, each once: bits in ascending order, purposes in the given order. */
export interface CertificateUsages {
  readonly bits: readonly number[];
  readonly purposes: readonly string[];
}

/** Translates the usages of a request; unknown names are returned in `unknown`. */
export function certificateUsages(
  usages: readonly string[],
): CertificateUsages & { readonly unknown: readonly string[] } {
  const bits = new Set<number>();
  const purposes = new Set<string>();
  const unknown: string[] = [];
  for (const usage of usages) {
    const bit = Object.hasOwn(keyUsageBits, usage) ? keyUsageBits[usage] : undefined;
    const purpose = Object.hasOwn(extendedUsageOids, usage) ? extendedUsageOids[usage] : undefined;
    if (bit !== undefined) bits.add(bit);
    else if (purpose !== undefined) purposes.add(purpose);
    else unknown.push(usage);
  }
  return { bits: [...bits].sort((a, b) => a - b), purposes: [...purposes], unknown };
}
