import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Label, isPortName, isPortNumber } from '../../../../../base/machinery/names.js';
import type { Container, ContainerPort, EphemeralContainer } from '../container.types.js';
import { checkOneOf, checkText, type PodValidationOptions } from './common.validation.js';
import {
  validateContainerRestarts,
  validateResizePolicy,
  validateRestartPolicy,
} from './container-restart.validation.js';
import { validateEnv, validateEnvFrom } from './environment.validation.js';
import { validateLifecycle, validateProbe } from './probe.validation.js';
import { validateResourceClaims } from './resource-claims.validation.js';
import { validateResourceRequirements } from './resources.validation.js';
import { validateSecurityContext } from './security-context.validation.js';
import { type VolumeMap, validateVolumeDevices, validateVolumeMounts } from './volume-mount.validation.js';

const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];
const pullPolicies: readonly string[] = ['Always', 'IfNotPresent', 'Never'];

/** The data about a pod that the rules for its containers depend on. */
export interface ContainerOptions extends PodValidationOptions {
  /** How many seconds the pod may take to stop. */
  readonly graceSeconds: number;
  /** Whether the pod uses the host's user namespace; undefined means that it does. */
  readonly hostUsers: boolean | undefined;
  /** Names of the devices that the pod claims. */
  readonly claims: readonly string[];
}

/** Validates the containers of a pod, which must have at least one. */
export function validateContainers(
  containers: readonly Container[],
  volumes: VolumeMap,
  path: FieldPath,
  options: ContainerOptions,
  errors: FieldError[],
): void {
  const { graceSeconds } = options;
  if (containers.length === 0) {
    errors.push(required(path));
    return;
  }
  const names = new Set<string>();
  containers.forEach((container, i) => {
    validateContainer(container, names, volumes, path.index(i), options, errors);
    validateContainerRestarts(container, path.index(i), errors);
    validateLife(container, graceSeconds, path.index(i), errors);
  });
  checkHostPortConflicts(containers, path, errors);
}

/** Validates init containers; only those that keep running may have probes and hooks. */
export function validateInitContainers(
  containers: readonly Container[],
  others: readonly Container[],
  volumes: VolumeMap,
  path: FieldPath,
  options: ContainerOptions,
  errors: FieldError[],
): void {
  const otherNames = new Set(others.map((c) => c.name));
  const names = new Set<string>();
  containers.forEach((container, i) => {
    const at = path.index(i);
    validateContainer(container, names, volumes, at, options, errors);
    validateRestartPolicy(container, at, errors);
    if (otherNames.has(container.name)) errors.push(duplicate(at.child('name'), container.name));
    if (container.restartPolicy === 'Always') {
      validateLife(container, options.graceSeconds, at, errors);
      return;
    }
    // Init containers run one after the other, so only ports of the same one conflict. Like the reference, errors name
    // the first container.
    checkHostPortConflicts([container], path, errors);
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      if (container[field] === undefined) continue;
      errors.push(forbidden(at.child(field), 'may not be set for init containers without restartPolicy=Always'));
    }
  });
}

const forbiddenInEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

/** Validates containers added to a running pod. `others` are all other containers of the pod. */
export function validateEphemeralContainers(
  containers: readonly EphemeralContainer[],
  others: readonly Container[],
  volumes: VolumeMap,
  path: FieldPath,
  options: ContainerOptions,
  errors: FieldError[],
): void {
  if (containers.length === 0) return;
  const otherNames = new Set(others.map((c) => c.name));
  const names = new Set(otherNames);
  containers.forEach((container, i) => {
    const at = path.index(i);
    validateContainer(container as Container, names, volumes, at, options, errors);
    const target = container.targetContainerName;
    if (target && !otherNames.has(target)) errors.push(notFound(at.child('targetContainerName'), target));
    for (const field of forbiddenInEphemeral) {
      const value = container[field];
      if (value === undefined || Object.keys(value).length === 0) continue;
      errors.push(forbidden(at.child(field), 'cannot be set for an Ephemeral Container'));
    }
  });
}

function validateContainer(
  container: Container,
  names: Set<string>,
  volumes: VolumeMap,
  path: FieldPath,
  options: ContainerOptions,
  errors: FieldError[],
): void {
  const { name, image = '' } = container;
  if (name === '') errors.push(required(path.child('name')));
  else checkText(name, isDns1123Label, path.child('name'), errors);
  if (image === '') errors.push(required(path.child('image')));
  else if (image.trim() !== image) {
    errors.push(invalid(path.child('image'), image, 'must not have leading or trailing whitespace'));
  }
  checkTerminationMessagePolicy(container.terminationMessagePolicy ?? '', path, errors);
  if (container.ports !== undefined) validatePorts(container.ports, path.child('ports'), errors);
  if (container.env !== undefined) validateEnv(container.env, volumes, path.child('env'), errors);
  if (container.envFrom !== undefined) validateEnvFrom(container.envFrom, path.child('envFrom'), errors);
  validateVolumeMounts(container, volumes, path.child('volumeMounts'), errors);
  if (container.volumeDevices !== undefined) {
    const at = path.child('volumeDevices');
    validateVolumeDevices(container.volumeDevices, container.volumeMounts ?? [], volumes, at, errors);
  }
  const pullPolicy = container.imagePullPolicy ?? '';
  if (pullPolicy === '') errors.push(required(path.child('imagePullPolicy')));
  else checkOneOf(pullPolicy, pullPolicies, path.child('imagePullPolicy'), errors);
  validateResourceRequirements(container.resources, path.child('resources'), options, errors);
  validateResourceClaims(container.resources.claims, options.claims, path.child('resources').child('claims'), errors);
  validateResizePolicy(container, path.child('resizePolicy'), errors);
  validateSecurityContext(container.securityContext, options.hostUsers, path.child('securityContext'), errors);
  if (names.has(name)) errors.push(duplicate(path.child('name'), name));
  else names.add(name);
}

/** Validates fields that only containers which keep running have: hooks and probes. */
function validateLife(container: Container, graceSeconds: number, path: FieldPath, errors: FieldError[]): void {
  validateLifecycle(container.lifecycle, graceSeconds, path.child('lifecycle'), errors);
  validateProbe(container.livenessProbe, path.child('livenessProbe'), true, errors);
  validateProbe(container.readinessProbe, path.child('readinessProbe'), false, errors);
  if (container.readinessProbe?.terminationGracePeriodSeconds !== undefined) {
    const at = path.child('readinessProbe').child('terminationGracePeriodSeconds');
    const seconds = container.readinessProbe.terminationGracePeriodSeconds;
    errors.push(invalid(at, seconds, 'must not be set for readinessProbes'));
  }
  validateProbe(container.startupProbe, path.child('startupProbe'), true, errors);
}

function checkTerminationMessagePolicy(policy: string, path: FieldPath, errors: FieldError[]): void {
  if (policy === 'File' || policy === 'FallbackToLogsOnError') return;
  const at = path.child('terminationMessagePolicy');
  errors.push(policy === '' ? required(at) : notSupported(at, policy, ['File', 'FallbackToLogsOnError']));
}

function validatePorts(ports: readonly ContainerPort[], path: FieldPath, errors: FieldError[]): void {
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const at = path.index(i);
    if (port.name) {
      const messages = isPortName(port.name);
      for (const message of messages) errors.push(invalid(at.child('name'), port.name, message));
      if (messages.length === 0) {
        if (names.has(port.name)) errors.push(duplicate(at.child('name'), port.name));
        names.add(port.name);
      }
    }
    if (port.containerPort === 0) errors.push(required(at.child('containerPort')));
    else
      for (const m of isPortNumber(port.containerPort))
        errors.push(invalid(at.child('containerPort'), port.containerPort, m));
    if (port.hostPort)
      for (const m of isPortNumber(port.hostPort)) errors.push(invalid(at.child('hostPort'), port.hostPort, m));
    if (!port.protocol) errors.push(required(at.child('protocol')));
    else if (!protocols.includes(port.protocol))
      errors.push(notSupported(at.child('protocol'), port.protocol, protocols));
  });
}

function checkHostPortConflicts(containers: readonly Container[], path: FieldPath, errors: FieldError[]): void {
  const taken = new Set<string>();
  containers.forEach((container, i) => {
    container.ports?.forEach((port, j) => {
      if (!port.hostPort) return;
      const text = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(text)) errors.push(duplicate(path.index(i).child('ports').index(j).child('hostPort'), text));
      taken.add(text);
    });
  });
}
