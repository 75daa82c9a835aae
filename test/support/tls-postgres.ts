import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../../src/base/database/with-client.js';
import { forgetFolder, removeWithUs } from './child-guard.js';
import { serverAuth, TestIdentity } from './test-authority.js';
import { startTestPostgres, type TestPostgres } from './test-postgres.js';

/** What its certificate names, for `sslmode=verify-full`. */
export const tlsHost = 'localhost';

/**
 * A PostgreSQL that takes no role but the administrator's without TLS: `certified` by a client certificate of its authority,
 * all others by a password.
 */
export class TlsPostgres {
  private constructor(
    /** Readable by the users that servers run as. */
    readonly folder: string,
    readonly postgres: TestPostgres,
    readonly authority: TestIdentity,
    /** Its certificate and key, which a pooler before it can use too. */
    readonly identity: TestIdentity,
  ) {}

  static async start(): Promise<TlsPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-tls-postgres-'));
    removeWithUs(folder);
    chmodSync(folder, 0o755);
    const authority = await TestIdentity.root('authority of the database');
    const identity = await authority.issue({
      subject: [{ CN: ['database'] }],
      usages: [serverAuth],
      names: [{ type: 'dns', value: tlsHost }],
    });
    const hosts = 'host all postgres all trust\nhostssl all certified all cert\nhostssl all all all scram-sha-256\n';
    writeFileSync(join(folder, 'authority.crt'), authority.cert, { mode: 0o644 });
    writeFileSync(join(folder, 'pg_hba.conf'), hosts, { mode: 0o644 });
    const postgres = await startTestPostgres({
      tls: { certificate: identity.cert, privateKey: identity.key },
      settings: { ssl_ca_file: join(folder, 'authority.crt'), hba_file: join(folder, 'pg_hba.conf') },
    });
    return new TlsPostgres(folder, postgres, authority, identity);
  }

  /** The file of the authority that signed the certificate of the server. */
  get authorityFile(): string {
    return join(this.folder, 'authority.crt');
  }

  /** Makes a role that may log in, and a database of its own with the same name. */
  async addAccount(name: string): Promise<void> {
    await this.sql(`create role ${name} login`);
    await this.sql(`create database ${name} owner ${name}`);
  }

  /** Runs a statement as administrator. */
  async sql(text: string): Promise<Record<string, unknown>[]> {
    const answer = await withClient(this.postgres.adminUrl, (client) => client.query(text));
    return answer.rows as Record<string, unknown>[];
  }

  async stop(): Promise<void> {
    await this.postgres.stop();
    rmSync(this.folder, { recursive: true, force: true });
    forgetFolder(this.folder);
  }
}
