import { errorCode, errorText } from '../machinery/startup-error.js';
import { sqlState } from './sql-state.js';

/** What to do about a connection that fails. `flag` names the URL. */
export function connectionRemedy(fault: unknown, flag = '--database-url'): string {
  const state = sqlState(fault) ?? '';
  const text = errorText(fault);
  const code = errorCode(fault);
  if (/valid client certificate/.test(text))
    return `name the certificate and key of the role by sslcert and sslkey in ${flag}`;
  if (/alert certificate expired|alert number 45/.test(text)) return `renew the certificate of sslcert in ${flag}`;
  if (/alert unknown ca|alert number 48/.test(text)) {
    return `name a certificate by sslcert that an authority of the database (ssl_ca_file) has signed, in ${flag}`;
  }
  if (state.startsWith('28') || /password/.test(text)) return `correct user and password in ${flag}, or pg_hba.conf`;
  if (state === '3D000') return `create the database, or correct its name in ${flag}`;
  if (state === '53300') return 'raise max_connections, or lower --database-pool-size';
  if (code === 'ENOENT' && /\bopen\b/.test(text))
    return `correct the file of sslrootcert, sslcert or sslkey in ${flag}`;
  if (/terminated unexpectedly|unknown.*message|Unexpected/i.test(text))
    return 'look whether that is the port of a PostgreSQL, and read its log';
  if (/does not support SSL/.test(text))
    return `switch TLS on in the database (ssl = on), or correct sslmode in ${flag}`;
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate of the database (ssl_cert_file)';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `name the host in ${flag} as the certificate does, or use sslmode=verify-ca`;
  }
  if (/SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code ?? '')) {
    return `name the authority of the database's certificate by sslrootcert in ${flag}`;
  }
  if (/certificate|SSL|TLS/i.test(text)) return `correct sslmode and sslrootcert in ${flag}`;
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return `correct the host in ${flag}, or the name service`;
  return `start the database, open the way to its port, or correct ${flag}`;
}
