import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  tooLong,
} from '../../../../../base/machinery/field-error.js';
import { isPortNumber, isQualifiedName } from '../../../../../base/machinery/names.js';
import type { PortStatus } from '../service.types.js';

const protocols = ['SCTP', 'TCP', 'UDP'];
/** The longest error name: a DNS subdomain, a slash and a name. */
const maxErrorLength = 316;

/** Validates a load balancer's port status (specification 2.5). */
export function validatePortStatuses(ports: readonly PortStatus[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, { port, protocol, error }] of ports.entries()) {
    const at = path.index(i);
    for (const m of isPortNumber(port)) errors.push(invalid(at.child('port'), port, m));
    if (!protocols.includes(protocol)) errors.push(notSupported(at.child('protocol'), protocol, protocols));
    if (error === undefined) continue;
    if (error.length > maxErrorLength) errors.push(tooLong(at.child('error'), maxErrorLength));
    // `CamelCase` for built-in errors, `example.com/CamelCase` for others.
    else for (const m of isQualifiedName(error)) errors.push(invalid(at.child('error'), error, m));
  }
  return errors;
}
