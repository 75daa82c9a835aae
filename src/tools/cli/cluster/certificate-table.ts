import type { StoredCertificate } from '../pki/stored-pairs.js';
import { HistoryTables } from '../sql/history-tables.js';

/** A certificate as JSON shows it. */
export interface DescribedCertificate {
  readonly name: string;
  readonly subject: string;
  readonly expires: string;
  readonly residualDays: number;
  readonly authority: string;
  /** Whether somebody else made it, so that plinth does not renew it. */
  readonly externallyManaged: boolean;
}

const dayMs = 86_400_000;

export function describeCertificate(stored: StoredCertificate, now: number): DescribedCertificate {
  const { name, certificate, authority, isOwn } = stored;
  const end = Date.parse(certificate.validTo);
  return {
    name,
    subject: certificate.subject.split('\n').join(', '),
    expires: new Date(end).toISOString().replace(/\.\d+Z$/, 'Z'),
    residualDays: Math.floor((end - now) / dayMs),
    authority: authority === name ? '' : (authority ?? 'not here'),
    externallyManaged: !isOwn,
  };
}

/** Certificates for people, one in a line. */
export function certificateTable(described: readonly DescribedCertificate[]): string[] {
  const rows = described.map(({ name, subject, expires, residualDays, authority, externallyManaged }) => ({
    cells: [
      name,
      expires,
      residualDays < 0 ? '<expired>' : `${residualDays}d`,
      authority,
      externallyManaged ? 'yes' : 'no',
      subject,
    ],
  }));
  const titles = ['CERTIFICATE', 'EXPIRES', 'RESIDUAL TIME', 'AUTHORITY', 'EXTERNALLY MANAGED', 'SUBJECT'];
  return new HistoryTables(false).table(titles, rows);
}
