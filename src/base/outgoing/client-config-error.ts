/** A fault in a client configuration. The message names the file and the field, never a secret value. */
export class ClientConfigError extends Error {}
