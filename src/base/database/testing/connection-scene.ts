import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverAuth, TestIdentity } from '../../../../test/support/test-authority.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { connectDatabase, type DatabaseConnection } from '../connect-database.js';
import { databaseTargets } from '../database-targets.js';

/** Variables of libpq. */
export type Variables = Readonly<Record<string, string>>;

/** The users of the server with TLS, and how each may connect. */
const rules = [
  'hostssl all certain 127.0.0.1/32 cert clientcert=verify-full',
  'hostssl all guarded 127.0.0.1/32 scram-sha-256',
  'hostssl all plainly 127.0.0.1/32 password',
  'hostnossl all clear 127.0.0.1/32 trust',
  'hostssl all clear 127.0.0.1/32 reject',
  'hostssl all rotated 127.0.0.1/32 scram-sha-256',
  'hostssl all strict 127.0.0.1/32 trust',
  'host all postgres 127.0.0.1/32 trust',
];

/** A database server with TLS, another without, and the files of an authority. */
export class ConnectionScene {
  /** What the present case has opened. */
  private readonly opened: { end(): void }[] = [];

  private constructor(
    private readonly folder: string,
    /** The identity of the server with TLS. */
    readonly leaf: TestIdentity,
    readonly server: TestPostgres,
    readonly plain: TestPostgres,
  ) {}

  static async start(): Promise<ConnectionScene> {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-database-'));
    await chmod(folder, 0o755);
    const leaf = await writeIdentities(folder);
    const rulesFile = join(folder, 'hba.conf');
    await writeFile(rulesFile, rules.join('\n'));
    await chmod(rulesFile, 0o644);
    const server = await startTestPostgres({
      tls: { certificate: leaf.cert, privateKey: leaf.key },
      settings: { hba_file: rulesFile, ssl_ca_file: join(folder, 'ca.pem') },
    });
    const plain = await startTestPostgres({ settings: { work_mem: '4MB' } });
    const scene = new ConnectionScene(folder, leaf, server, plain);
    const { client } = await scene.connect(server.adminUrl);
    await client.query(`create role certain login; create role guarded login password 'secret';
      create role plainly login password 'secret'; create role clear login; create role strict login`);
    await client.end();
    return scene;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.plain.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Ends the connections and servers of a case. */
  endCase(): void {
    for (const each of this.opened.splice(0)) each.end();
  }

  readonly file = (name: string): string => join(this.folder, name);

  /** Connects until the case ends. */
  readonly connect = async (
    url: string,
    variables: Variables = {},
    timeoutMs = 20_000,
  ): Promise<DatabaseConnection> => {
    const [target] = databaseTargets(url, variables);
    if (target === undefined) throw new Error(`${url} names no server`);
    const connection = await connectDatabase({ target, config: {}, timeoutMs });
    this.opened.push({ end: () => connection.stream.destroy() });
    return connection;
  };

  /** A URL of the server with TLS. */
  readonly url = (parameters = '', role = 'postgres', host = '127.0.0.1', port = this.server.port): string =>
    `postgres://${role}@${host}:${port}/postgres${parameters}`;

  /** Lets a server listen until the case ends, which also ends its connections; resolves with the port. */
  async listen(server: Server, host = '127.0.0.1'): Promise<number> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    this.opened.push({
      end: () => {
        server.close();
        for (const socket of sockets) socket.destroy();
      },
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return (server.address() as AddressInfo).port;
  }
}

/** Writes the files of authorities, of a user, and of the revocations; resolves with the identity of a server. */
async function writeIdentities(folder: string): Promise<TestIdentity> {
  const authority = await TestIdentity.root('database authority');
  const other = await TestIdentity.root('another authority');
  const leaf = await authority.issue({
    subject: [{ CN: ['database'] }],
    usages: [serverAuth],
    names: [{ type: 'dns', value: 'localhost' }],
  });
  const user = await authority.issue({ subject: [{ CN: ['certain'] }] });
  const crl = (await authority.revocationList([leaf])).toString('base64');
  for (const [name, text] of [
    ['ca.pem', authority.cert],
    ['other.pem', other.cert],
    ['user.pem', user.cert],
    ['user.key', user.key],
    ['crl.pem', `-----BEGIN X509 CRL-----\n${crl}\n-----END X509 CRL-----\n`],
  ] as const) {
    await writeFile(join(folder, name), text);
  }
  return leaf;
}
