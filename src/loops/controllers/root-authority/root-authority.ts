/** The authorities that clients inside the cluster verify the API's certificate with; they may change. */
export interface RootAuthority {
  /** Certificates in PEM. */
  readonly pem: string;
  /** Calls the listener after every change. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}
