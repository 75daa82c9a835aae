import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isPortName,
  isPortNumber,
  isWildcardDns1123Subdomain,
} from '../../../base/machinery/names.js';
import { validatePlainIp } from '../../../objects/apis/core/v1/validation/ip-address.validation.js';
import { validatePortStatuses } from '../../../objects/apis/core/v1/validation/port-status.validation.js';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressSpec,
  IngressStatus,
  IngressTLS,
} from '../../../objects/apis/networking/v1/ingress.types.js';
import { ipFamily } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import { validateTypedReference } from '../typed-reference.validation.js';

const specPath = FieldPath.of('spec');
const annotationsPath = FieldPath.of('annotations');
const statusPath = FieldPath.of('status');
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

/** Substrings that change the meaning of a path when it is normalized. */
const forbiddenInPath = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenPathEnds = ['/..', '/.'];

/** Validates a new Ingress. `classAnnotation` is the key of the older way to name the class. */
export function validateIngressCreate(ingress: Ingress, classAnnotation: string): FieldError[] {
  const errors = validateIngressSpec(ingress.spec);
  const annotated = ingress.metadata.annotations?.[classAnnotation];
  const { ingressClassName } = ingress.spec;
  if (annotated !== undefined && ingressClassName !== undefined && annotated !== ingressClassName) {
    const detail = 'must match `ingressClassName` when both are specified';
    errors.push(invalid(annotationsPath.child(classAnnotation), annotated, detail));
  }
  return errors;
}

/** Validates an Ingress spec, new or changed. */
export function validateIngressSpec(spec: IngressSpec): FieldError[] {
  const errors: FieldError[] = [];
  const rules = spec.rules ?? [];
  if (rules.length === 0 && spec.defaultBackend === undefined) {
    errors.push(invalid(specPath, spec.rules, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (spec.defaultBackend !== undefined) {
    validateBackend(spec.defaultBackend, specPath.child('defaultBackend'), errors);
  }
  for (const [i, rule] of rules.entries()) validateRule(rule, specPath.child('rules').index(i), errors);
  for (const [i, tls] of (spec.tls ?? []).entries()) validateTls(tls, specPath.child('tls').index(i), errors);
  if (spec.ingressClassName !== undefined) {
    for (const m of isDns1123Subdomain(spec.ingressClassName)) {
      errors.push(invalid(specPath.child('ingressClassName'), spec.ingressClassName, m));
    }
  }
  return errors;
}

/** Validates a written Ingress status. Addresses of the old status stay valid. */
export function validateIngressStatus(status: IngressStatus, old: IngressStatus): FieldError[] {
  const known = (old.loadBalancer.ingress ?? []).map(({ ip }) => ip);
  const errors: FieldError[] = [];
  const path = statusPath.child('loadBalancer').child('ingress');
  for (const [i, point] of (status.loadBalancer.ingress ?? []).entries()) {
    const at = path.index(i);
    if (point.ip !== undefined) errors.push(...validatePlainIp(point.ip, at.child('ip'), known));
    if (point.hostname !== undefined) {
      for (const m of isDns1123Subdomain(point.hostname)) errors.push(invalid(at.child('hostname'), point.hostname, m));
      if (ipFamily(point.hostname) !== undefined) {
        errors.push(invalid(at.child('hostname'), point.hostname, 'must be a DNS name, not an IP address'));
      }
    }
    errors.push(...validatePortStatuses(point.ports ?? [], at.child('ports')));
  }
  return errors;
}

function validateRule(rule: IngressRule, path: FieldPath, errors: FieldError[]): void {
  if (rule.host !== undefined) validateHost(rule.host, path.child('host'), errors);
  if (rule.http === undefined) return;
  const pathsPath = path.child('http').child('paths');
  const paths = rule.http.paths ?? [];
  if (paths.length === 0) errors.push(required(pathsPath));
  for (const [i, entry] of paths.entries()) validateHttpPath(entry, pathsPath.index(i), errors);
}

function validateHost(host: string, path: FieldPath, errors: FieldError[]): void {
  if (ipFamily(host) !== undefined) errors.push(invalid(path, host, 'must be a DNS name, not an IP address'));
  for (const m of hostErrors(host)) errors.push(invalid(path, host, m));
}

function hostErrors(host: string): string[] {
  return host.includes('*') ? isWildcardDns1123Subdomain(host) : isDns1123Subdomain(host);
}

function validateHttpPath(entry: HTTPIngressPath, at: FieldPath, errors: FieldError[]): void {
  const { pathType } = entry;
  const path = entry.path ?? '';
  const pathPath = at.child('path');
  if (pathType === null) {
    errors.push(required(at.child('pathType'), 'pathType must be specified'));
    // Without a type, nothing else of the path is checked.
    return;
  } else if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!path.startsWith('/')) errors.push(invalid(pathPath, path, 'must be an absolute path'));
    if (path !== '') validateExactPath(path, pathPath, errors);
  } else if (pathType === 'ImplementationSpecific') {
    if (path !== '' && !path.startsWith('/')) errors.push(invalid(pathPath, path, 'must be an absolute path'));
  } else {
    errors.push(notSupported(at.child('pathType'), pathType, pathTypes));
  }
  validateBackend(entry.backend, at.child('backend'), errors);
}

function validateExactPath(path: string, at: FieldPath, errors: FieldError[]): void {
  for (const part of forbiddenInPath) {
    if (path.includes(part)) errors.push(invalid(at, path, `must not contain '${part}'`));
  }
  for (const end of forbiddenPathEnds) {
    if (path.endsWith(end)) errors.push(invalid(at, path, `cannot end with '${end}'`));
  }
}

function validateBackend({ service, resource }: IngressBackend, path: FieldPath, errors: FieldError[]): void {
  if (resource !== undefined && service !== undefined) {
    errors.push(invalid(path, '', 'cannot set both resource and service backends'));
  } else if (resource !== undefined) {
    validateTypedReference(resource, path.child('resource'), errors);
  } else if (service === undefined) {
    errors.push(invalid(path, '', 'resource or service backend is required'));
  } else {
    validateServiceBackend(service, path, errors);
  }
}

function validateServiceBackend(
  { name, port }: NonNullable<IngressBackend['service']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const servicePath = path.child('service');
  const portPath = servicePath.child('port');
  if (name === '') errors.push(required(servicePath.child('name')));
  else for (const m of isDns1123Label(name)) errors.push(invalid(servicePath.child('name'), name, m));
  const hasName = (port.name ?? '') !== '';
  const hasNumber = (port.number ?? 0) !== 0;
  if (hasName && hasNumber) errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (hasName) {
    for (const m of isPortName(port.name as string)) errors.push(invalid(portPath.child('name'), port.name, m));
  } else if (hasNumber) {
    for (const m of isPortNumber(port.number as number)) errors.push(invalid(portPath.child('number'), port.number, m));
  } else {
    errors.push(required(path, 'port name or number is required'));
  }
}

function validateTls({ hosts, secretName }: IngressTLS, path: FieldPath, errors: FieldError[]): void {
  for (const [i, host] of (hosts ?? []).entries()) {
    for (const m of hostErrors(host)) errors.push(invalid(path.child('hosts').index(i), host, m));
  }
  if (secretName !== undefined) {
    for (const m of isDns1123Subdomain(secretName)) errors.push(invalid(path.child('secretName'), secretName, m));
  }
}
