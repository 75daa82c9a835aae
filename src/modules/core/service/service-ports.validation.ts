import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label, isPortName, isPortNumber, isQualifiedName } from '../../../base/machinery/names.js';
import type { Service, ServicePort } from '../../../objects/apis/core/v1/service.types.js';

const portsPath = FieldPath.of('spec', 'ports');
const protocols = ['SCTP', 'TCP', 'UDP'];

/** Validates the ports of a service; with more than one port, each needs its own name. */
export function validateServicePorts({ spec }: Service, errors: FieldError[]): void {
  const ports = spec.ports ?? [];
  const seen = new Set<string>();
  ports.forEach((port, i) => {
    const path = portsPath.index(i);
    validateName(port, ports.length > 1, seen, path.child('name'), errors);
    for (const m of isPortNumber(port.port)) errors.push(invalid(path.child('port'), port.port, m));
    if (!port.protocol) errors.push(required(path.child('protocol')));
    else if (!protocols.includes(port.protocol)) {
      errors.push(notSupported(path.child('protocol'), port.protocol, protocols));
    }
    const target = port.targetPort;
    const broken = typeof target === 'number' ? isPortNumber(target) : isPortName(target);
    for (const m of broken) errors.push(invalid(path.child('targetPort'), target, m));
    if (port.appProtocol !== undefined) {
      for (const m of isQualifiedName(port.appProtocol)) {
        errors.push(invalid(path.child('appProtocol'), port.appProtocol, m));
      }
    }
  });
}

function validateName(
  port: ServicePort,
  isNeeded: boolean,
  seen: Set<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { name } = port;
  if (!name) {
    if (isNeeded) errors.push(required(path));
    return;
  }
  for (const m of isDns1123Label(name)) errors.push(invalid(path, name, m));
  if (seen.has(name)) errors.push(duplicate(path, name));
  seen.add(name);
}
