/** Why a service can't be reached. */
export type ServiceFaultReason =
  | 'ServiceNotFound'
  | 'ServicePortError'
  | 'EndpointsNotFound'
  | 'MissingEndpoints'
  | 'ServiceAccessError';

/** A service that can't be reached. */
export class ServiceFault extends Error {
  /** @param portName name of the service's port, if that is known */
  constructor(
    message: string,
    readonly reason: ServiceFaultReason,
    readonly portName = '',
  ) {
    super(message);
  }
}
