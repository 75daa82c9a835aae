/* The messages between a test process and its server, over the channel between parent and child. */

/** The settings with which the server is started. */
export interface StartSettings {
  /** A folder of the server's own, which it removes when it exits. */
  readonly folder: string;
  /** The flags as on a command line. */
  readonly flags: readonly string[];
  /** Names of controllers, as in the flag `--controllers`. */
  readonly controllers: readonly string[];
  readonly nodes: number;
  /** The port to listen on; undefined: any that is free. */
  readonly port: number | undefined;
  /** A PostgreSQL of the user's own; undefined: the shared one. */
  readonly databaseUrl: string | undefined;
  readonly fixtures: readonly FixtureInput[];
}

/** YAML or JSON documents as a string, or the path of a file or folder; or an object. */
export type FixtureInput = { readonly text: string } | { readonly path: string } | { readonly object: object };

export interface StartAnswer {
  readonly url: string;
  readonly port: number;
  /** Authority, certificate and private key in PEM. */
  readonly authority: string;
  readonly certificate: string;
  readonly privateKey: string;
  readonly databaseUrl: string;
}

/** A user by certificate, or a service account by token. */
export type UserRequest =
  | { readonly user: string; readonly groups: readonly string[] }
  | { readonly serviceAccount: string; readonly namespace: string };

export type UserAnswer = { readonly certificate: string; readonly privateKey: string } | { readonly token: string };

export interface ResetAnswer {
  /** How many objects were removed, or put back. */
  readonly objects: number;
}

/** The calls that the server takes, with their parameters and results. */
export interface HostCalls {
  start(settings: StartSettings): Promise<StartAnswer>;
  reset(options: { readonly endWatches: boolean }): Promise<ResetAnswer>;
  checkpoint(): Promise<null>;
  apply(inputs: readonly FixtureInput[]): Promise<object[]>;
  user(request: UserRequest): Promise<UserAnswer>;
  stop(): Promise<null>;
}

export type HostMethod = keyof HostCalls;

export interface CallMessage {
  readonly id: number;
  readonly method: HostMethod;
  readonly parameter?: unknown;
}

export type AnswerMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
