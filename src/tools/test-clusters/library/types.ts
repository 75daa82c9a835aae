/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A real server for tests, in the process tree of the test: `import { startCluster } from 'plinth/testing'`.
 */
export interface ClusterOptions {
  /**
   * Flags of `plinth serve` and `plinth controllers` by name, without dashes. Neither flags from the environment nor
   * files of the user have an effect. Access is decided by the modes Node and RBAC unless flags select others.
   */
  readonly flags?: Readonly<Record<string, FlagValue>>;
  /** Feature gates by name. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Domain of API groups and well-known keys. Default `k8s.io`. */
  readonly vendor?: string;
  /** Default `kubernetes`: namespaces, media types and annotations have the names that existing clients know. */
  readonly compat?: 'kubernetes' | '';
  /**
   * Whether control loops run: deployments get pods, owners' objects are collected, namespaces get service accounts. A
   * list of names selects some, as in the flag `--controllers`. Default: only with nodes. The server's own loops, such
   * as those for definitions of custom resources, always run.
   */
  readonly controllers?: boolean | readonly string[];
  /** How many simulated nodes there are, which pretend to run pods. Default 0. */
  readonly nodes?: number;
  /** Applied at the start; `reset` returns to the state after them. */
  readonly fixtures?: Fixtures;
  /** Port of 127.0.0.1. Default: any that is free. */
  readonly port?: number;
  /**
   * A PostgreSQL to use, by the URL of any database on it and as a role that may create databases: each cluster makes one
   * of its own and drops it. Default: one that all test processes of this user share, which is started by the first and
   * ends with the last.
   */
  readonly databaseUrl?: string;
  /** How much the server logs. Default `warn`. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** How long the start may take, in milliseconds. Default 60,000. */
  readonly startTimeoutMs?: number;
}

export type FlagValue = string | number | boolean | readonly string[];

/**
 * Objects, strings of YAML or JSON, or paths of files and folders of YAML or JSON (a `file:` URL, or a string of one
 * line that ends in `.yaml`, `.yml`, `.json` or `/` or has no colon). From a folder, the files with these endings are
 * used, but not those in its subfolders.
 */
export type Fixtures = string | object | readonly (string | object)[];

/** A `KubeConfig` of `@kubernetes/client-node`, as far as it is needed here. */
export interface LoadsKubeconfig {
  loadFromString(text: string): void;
}

/** Access to a cluster as one user. */
export interface Access {
  /** Text of a kubeconfig, with the credentials in it. */
  readonly kubeconfig: string;
  /** Path of a file with that text, for programs: `KUBECONFIG`. The file is removed when the cluster ends. */
  readonly kubeconfigFile: string;
  /** What `loadFromOptions` of a `KubeConfig` takes. */
  readonly settings: KubeconfigSettings;
  /** Loads the access into a `KubeConfig` of `@kubernetes/client-node` and returns that. */
  loadInto<Config extends LoadsKubeconfig>(config: Config): Config;
  /**
   * Sends one request to the API and returns the response.
   *
   * @param body sent as JSON, unless the headers give another type
   * @throws ApiError for an error response
   */
  // biome-ignore lint/suspicious/noExplicitAny: an answer has whatever type the caller knows it to have
  request<Answer = any>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
}

/** An error response of the API. */
export interface ApiError extends Error {
  readonly status: number;
  /** The reason as in a Status, such as `NotFound`. */
  readonly reason: string;
  /** The whole Status. */
  readonly body: unknown;
}

/** Clusters, users and contexts, in the form of `@kubernetes/client-node`. */
export interface KubeconfigSettings {
  readonly clusters: { name: string; server: string; caData: string; skipTLSVerify: boolean }[];
  readonly users: { name: string; certData?: string; keyData?: string; token?: string }[];
  readonly contexts: { name: string; cluster: string; user: string }[];
  readonly currentContext: string;
}

/** The identity to use: a user with a client certificate, or a service account with a token. */
export type Identity =
  | { readonly user: string; readonly groups?: readonly string[] }
  | { readonly serviceAccount: string; readonly namespace?: string };

export interface ResetOptions {
  /**
   * Also ends all watches (410 Gone) and makes all older versions unreadable, as after a loss of history: shows whether
   * a client recovers. Otherwise watches continue and see each object change back.
   */
  readonly endWatches?: boolean;
}

/** A running server with a database of its own. */
export interface TestCluster extends Access, AsyncDisposable {
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** The administrator, whom the members of the cluster object itself also represent. */
  readonly admin: Access;
  /** URL of the cluster's database; it can be read by SQL. */
  readonly databaseUrl: string;
  /** Process ID of the server. */
  readonly pid: number;
  /**
   * Applies objects as an administrator, by server-side apply. Definitions come first and are served when it resolves.
   * A status is written too. Returns the objects as the server has them.
   */
  apply(...fixtures: Fixtures[]): Promise<object[]>;
  /** A kubeconfig for another user or a service account. */
  kubeconfigFor(identity: Identity): Promise<Access>;
  /**
   * Returns to the state after the start, or after the last `checkpoint`. When it resolves, everything that the server
   * knows belongs to that state. Versions continue: no client sees anything go back.
   */
  reset(options?: ResetOptions): Promise<void>;
  /** Makes the present state the one that `reset` returns to. */
  checkpoint(): Promise<void>;
  /** The last lines of the server's log. */
  logs(): string;
  /** Ends the server. Otherwise the server ends with the process that started it. */
  stop(): Promise<void>;
}
