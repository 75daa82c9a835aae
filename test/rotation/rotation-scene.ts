import { randomBytes } from 'node:crypto';
import { chownSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseServiceUser } from '../../src/tools/local-postgres/embedded/service-user.js';
import { Haproxy } from '../support/haproxy.js';
import { PgBouncer } from '../support/pgbouncer.js';
import { TlsPostgres, tlsHost } from '../support/tls-postgres.js';

/** A role with its database. */
export interface Account {
  readonly name: string;
  password: string;
}

/** How long a client certificate is valid, in milliseconds: it has expired when the next but one is made. */
const certificateMs = 9_000;

/** A PostgreSQL that takes accounts only over TLS, with an HAProxy and a PgBouncer before it. */
export class RotationScene {
  private accounts = 0;

  private constructor(
    readonly database: TlsPostgres,
    private readonly proxy: Haproxy,
    private readonly pooler: PgBouncer,
  ) {}

  static async start(): Promise<RotationScene> {
    const database = await TlsPostgres.start();
    const { folder, postgres, identity, authorityFile } = database;
    const proxy = await Haproxy.start([{ port: postgres.port }]);
    const [certificate, key] = [join(folder, 'pooler.crt'), join(folder, 'pooler.key')];
    writeFileSync(certificate, identity.cert, { mode: 0o644 });
    writeFileSync(key, identity.key, { mode: 0o600 });
    const { uid, gid } = await chooseServiceUser();
    if (uid !== undefined && gid !== undefined) chownSync(key, uid, gid);
    // The pooler asks clients for a password, also the administrator, whom the server trusts.
    const pooler = await PgBouncer.start(postgres.adminUrl.replace('postgres@', 'postgres:pooled@'), {
      settings: {
        auth_type: 'scram-sha-256',
        auth_user: 'postgres',
        auth_query: 'select usename, passwd from pg_shadow where usename = $1',
        ...{ client_tls_sslmode: 'allow', client_tls_cert_file: certificate, client_tls_key_file: key },
        ...{ server_tls_sslmode: 'verify-ca', server_tls_ca_file: authorityFile },
      },
    });
    return new RotationScene(database, proxy, pooler);
  }

  /** @param name only `certified` logs in by certificate, all others by password */
  async account(name = `account_${++this.accounts}`): Promise<Account> {
    await this.database.addAccount(name);
    return { name, password: '' };
  }

  async changePassword(account: Account, password: string): Promise<void> {
    await this.database.sql(`alter role ${account.name} password '${password}'`);
    account.password = password;
  }

  /** Ends all connections of the account, so that new ones need what is valid now. Returns how many. */
  async cut({ name }: Account): Promise<number> {
    const ends = `select count(pg_terminate_backend(pid)) as count from pg_stat_activity where usename = '${name}'`;
    return Number((await this.database.sql(ends))[0]?.count);
  }

  /** The URL of the account's database with all checks of TLS, without a password. */
  url({ name }: Account, way: 'direct' | 'haproxy' | 'pooler', more = ''): string {
    const port = { direct: this.database.postgres.port, haproxy: this.proxy.port, pooler: this.pooler.port }[way];
    const tls = `sslmode=verify-full&sslrootcert=${this.database.authorityFile}`;
    return `postgresql://${name}@${tlsHost}:${port}/${name}?${tls}${more}`;
  }

  path(name: string): string {
    return join(this.database.folder, name);
  }

  /** Replaces a file as a mounted secret is replaced: a reader finds the old one or the new one. */
  replace(name: string, text: string): void {
    writeFileSync(this.path(`${name}.new`), text, { mode: 0o600 });
    renameSync(this.path(`${name}.new`), this.path(name));
  }

  /** Makes a short-lived client certificate, and replaces the files one after the other. */
  async renewCertificate({ name }: Account): Promise<void> {
    const now = Date.now();
    const client = await this.database.authority.issue({
      subject: [{ CN: [name] }],
      notBefore: new Date(now - 1000),
      notAfter: new Date(now + certificateMs),
    });
    this.replace('client.key', client.key);
    this.replace('client.crt', client.chain);
  }

  async stop(): Promise<void> {
    await this.pooler.stop();
    await this.proxy.stop();
    await this.database.stop();
  }
}

export function newPassword(): string {
  return randomBytes(12).toString('hex');
}
