const codeNames = [
  ...['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists'],
  ...['PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented'],
  ...['Internal', 'Unavailable', 'DataLoss', 'Unauthenticated'],
] as const;

/** A call that a server refused or did not answer. The message contains the usual name of the status. */
export class GrpcError extends Error {
  constructor(
    /** gRPC status: 5 for an object that does not exist, 14 while the server is unavailable. */
    readonly code: number,
    /** The message of the server, without the status. */
    readonly detail: string,
  ) {
    super(`rpc error: code = ${codeNames[code] ?? `Code(${code})`} desc = ${detail}`);
    this.name = 'GrpcError';
  }
}
