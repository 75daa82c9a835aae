/** How the server would use the database. */
export interface DatabaseNeeds {
  readonly databaseUrl: string;
  /** The connection without a pooler in between, for notifications. */
  readonly listenDatabaseUrl: string | undefined;
  readonly readDatabaseUrl?: string | undefined;
  /** Connections that one process opens. */
  readonly connections: number;
  /** How long a transaction must run to count as long; default: 600. */
  readonly longTransactionSeconds?: number;
}
