import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain, isPortNumber, isQualifiedName } from '../../../base/machinery/names.js';
import type { EndpointAddress, EndpointPort, Endpoints } from '../../../objects/apis/core/v1/endpoints.types.js';
import {
  validateNonSpecialIp,
  validatePlainIp,
} from '../../../objects/apis/core/v1/validation/ip-address.validation.js';

const subsetsPath = FieldPath.of('subsets');
const protocols = ['SCTP', 'TCP', 'UDP'];

/** Validates endpoints. */
export function validateEndpoints(object: Endpoints): FieldError[] {
  const errors: FieldError[] = [];
  object.subsets?.forEach((subset, i) => {
    const path = subsetsPath.index(i);
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
    if (addresses.length === 0 && notReadyAddresses.length === 0) {
      errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
    }
    addresses.forEach((address, n) => {
      validateAddress(address, path.child('addresses').index(n), errors);
    });
    notReadyAddresses.forEach((address, n) => {
      validateAddress(address, path.child('notReadyAddresses').index(n), errors);
    });
    ports.forEach((port, n) => {
      validatePort(port, ports.length > 1, path.child('ports').index(n), errors);
    });
  });
  return errors;
}

function validateAddress(address: EndpointAddress, path: FieldPath, errors: FieldError[]): void {
  const { ip, hostname, nodeName } = address;
  errors.push(...validatePlainIp(ip, path.child('ip'), []));
  if (hostname) for (const m of isDns1123Label(hostname)) errors.push(invalid(path.child('hostname'), hostname, m));
  if (nodeName !== undefined) {
    for (const m of isDns1123Subdomain(nodeName)) errors.push(invalid(path.child('nodeName'), nodeName, m));
  }
  errors.push(...validateNonSpecialIp(ip, path.child('ip')));
}

function validatePort(port: EndpointPort, needsName: boolean, path: FieldPath, errors: FieldError[]): void {
  const { name, protocol, appProtocol } = port;
  if (name) for (const m of isDns1123Label(name)) errors.push(invalid(path.child('name'), name, m));
  else if (needsName) errors.push(required(path.child('name')));
  for (const m of isPortNumber(port.port)) errors.push(invalid(path.child('port'), port.port, m));
  if (!protocol) errors.push(required(path.child('protocol')));
  else if (!protocols.includes(protocol)) errors.push(notSupported(path.child('protocol'), protocol, protocols));
  if (appProtocol !== undefined) {
    for (const m of isQualifiedName(appProtocol)) errors.push(invalid(path.child('appProtocol'), appProtocol, m));
  }
}
