import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainSealing, type Sealing } from '../../src/storage/encryption/sealing.js';
import { DatabaseHub } from '../../src/storage/hub/database-hub.js';
import { HubDatabase } from '../../src/storage/hub/hub-database.js';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import { resolveOptions } from '../../src/storage/postgres/postgres-storage-options.js';

/** How a store of a machine reaches the database. */
export interface HubStoreOptions {
  readonly sealing?: Sealing | undefined;
  readonly notifyPollMs?: number | undefined;
  /** Whether it reads over connections of its own. */
  readonly readsDirectly?: boolean;
}

/** A hub and the stores that reach the database through it, connected as separate processes are. */
export class HubMachine {
  private readonly stores: PostgresStorage[] = [];
  private readonly clients: Socket[] = [];

  private constructor(
    readonly databaseUrl: string,
    private readonly hub: DatabaseHub,
    private readonly listener: Server,
    private readonly folder: string,
  ) {}

  static async start(databaseUrl: string): Promise<HubMachine> {
    const hub = new DatabaseHub(resolveOptions({ databaseUrl }));
    const folder = await mkdtemp(join(tmpdir(), 'plinth-hub-'));
    const listener = createServer((socket) => hub.serve(socket)).listen(join(folder, 'socket'));
    await once(listener, 'listening');
    return new HubMachine(databaseUrl, hub, listener, folder);
  }

  static async use(databaseUrl: string, work: (machine: HubMachine) => Promise<void>): Promise<void> {
    const machine = await HubMachine.start(databaseUrl);
    try {
      await work(machine);
    } finally {
      await machine.stop();
    }
  }

  async unstarted({
    sealing = plainSealing,
    notifyPollMs,
    readsDirectly = false,
  }: HubStoreOptions = {}): Promise<PostgresStorage> {
    const socket = connect(join(this.folder, 'socket'));
    await once(socket, 'connect');
    this.clients.push(socket);
    // A store without connections of its own has no use for the database's place.
    const databaseUrl = readsDirectly ? this.databaseUrl : 'postgres://nobody@127.0.0.1:1/none';
    const options = resolveOptions({ databaseUrl, sealing, notifyPollMs, applicationName: 'plinth worker' });
    const store = new PostgresStorage(options, (all, events) => new HubDatabase(socket, all, events, readsDirectly));
    this.stores.push(store);
    return store;
  }

  async store(options?: HubStoreOptions): Promise<PostgresStorage> {
    const store = await this.unstarted(options);
    await store.start();
    return store;
  }

  get knownVersion(): bigint {
    const { database } = this.hub as unknown as { database: { writer: { known: bigint } } };
    return database.writer.known;
  }

  /** Closes the connection of the newest store, as if its process had exited. */
  cut(): void {
    this.clients.at(-1)?.destroy();
  }

  async stopHub(): Promise<void> {
    await this.hub.stop(1_000);
  }

  async stop(): Promise<void> {
    await Promise.all(this.stores.map((store) => store.stop()));
    await this.stopHub();
    for (const client of this.clients) client.destroy();
    this.listener.close();
    await rm(this.folder, { recursive: true });
  }
}
