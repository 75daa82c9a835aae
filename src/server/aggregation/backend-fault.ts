/** Why an extension server gave no usable response. The message may be shown to clients. */
export class BackendFault extends Error {}
