/** The authorities that clients inside the cluster check the API's certificate against; they may change. */
export interface RootAuthority {
  /** Certificates in PEM. */
  readonly pem: string;
  /** Calls back after every change; gives the way to end that. */
  onChange(listener: () => void): () => void;
}
